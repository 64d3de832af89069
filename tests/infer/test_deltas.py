import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stakes.infer._outcomes import (
    ENOUGH,
    Outcomes,
    cost_differences,
    make_stratum,
    often_enough,
    rarest_end,
)

COSTS = np.array([[0.0, 9.0], [2.0, 0.0]])
DELTA = cost_differences(COSTS)  # 9: a miss of the first alone; 2: its false alarm alone


def test_differences_of_decimal_costs_are_decimal():
    delta = cost_differences(np.array([[0.3, 1.1], [0.1, 0.2]]))
    assert delta[0, 1].tolist() == [0.2, 0.9]


@given(arrays(np.int64, (4, 2, 2, 2), elements=st.integers(0, 2 * ENOUGH)))
def test_the_extremes_came_often_enough_where_none_is_the_rarest(tables):
    tables[:, 0, 0, 0] += 1
    outcomes = Outcomes((make_stratum(DELTA, tables),))
    for found, table in zip(often_enough(outcomes), tables, strict=True):
        highest, lowest = table[DELTA == 9].sum(), table[DELTA == -9].sum()
        assert found == (min(highest, lowest) >= ENOUGH)
        end = rarest_end(Outcomes((make_stratum(DELTA, table[np.newaxis]),)))
        assert (end is None) == found
        if end is not None:
            assert [lowest, highest][end[1]] == min(highest, lowest)
