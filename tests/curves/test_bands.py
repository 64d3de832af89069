"""Bands: every method against enumeration, equations, scipy and simulation."""

import itertools
import pickle
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest, norm

from stakes import Confusion, CostCurve, CostCurveDifference, CostLine, PairedConfusion
from stakes.curves import Band, average_curves
from stakes.curves.bands import METHODS, exact
from stakes.errors import DesignError, InputError, InputTypeError

PLACES = np.array([0.0, 0.07, 0.25, 1 / 3, 0.5, 0.61803, 0.9, 1.0])
SAMPLINGS = ("stratified", "full")
NOT_DRAWN = [method for method in METHODS if method != "bootstrap"]
INF = np.inf

# Figure 11 of Holte & Drummond.
FIGURE_11 = CostLine(fpr=0.4, tpr=0.8, positives=20, negatives=10)

NASTY = {
    "perfect": ([0, 0, 1, 1], [1, 2, 3, 4]),
    "reversed": ([1, 1, 0, 0], [1, 2, 3, 4]),
    "one of each": ([0, 1], [1, 2]),
    "one of each, reversed": ([0, 1], [2, 1]),
    "constant": ([0, 1, 1, 0, 1], [1] * 5),
    "all infinite": ([0, 1, 1], [INF] * 3),
    "all minus infinite": ([0, 1, 1], [-INF] * 3),
    "positives infinite": ([0, 1, 1], [0, INF, INF]),
    "negatives infinite": ([0, 0, 1], [INF, INF, 0]),
    "both infinite": ([0, 1, 0, 1, 1], [INF, -INF, 0, INF, -INF]),
}


def options_of(method):
    return {"n_resamples": 100, "rng": 0} if method == "bootstrap" else {}


def arrays_of(band):
    return [getattr(band, name) for name in ("pc", "cost", "low", "high")]


# Enumeration of all bootstrap outcomes


def outcomes(n, counts):
    """Return all outcomes of n draws, as counts of the cells, and their probabilities."""
    shares = [each / n for each in (*counts, n - sum(counts))]
    every, chances = [], []
    for drawn in itertools.product(range(n + 1), repeat=len(counts)):
        left, chance = n, 1.0
        for each, share in zip((*drawn, n - sum(drawn)), shares, strict=True):
            if each > left or each < 0:
                chance = 0.0
                break
            chance *= comb(left, each) * share**each
            left -= each
        if chance > 0:
            every.append(drawn)
            chances.append(chance)
    return np.array(every, dtype=float), np.array(chances)


def listed(parts, pc, *, full):
    """Return the heights of all resamples and their probabilities.

    `parts` has, for the positives and for the negatives, the number of examples and the counts of
    the mistakes: of one classifier; or of the first alone and of the second alone.
    """
    signs = np.array([1.0, -1.0])[: len(parts[0][1])]
    values = [weight / n * signs for (n, _), weight in zip(parts, (pc, 1 - pc), strict=True)]
    if full:
        n = parts[0][0] + parts[1][0]
        drawn, chances = outcomes(n, [*parts[0][1], *parts[1][1]])
        return drawn @ np.concatenate(values), chances
    (one, p), (other, q) = (outcomes(n, counts) for n, counts in parts)
    heights = (one @ values[0])[:, np.newaxis] + other @ values[1]
    return heights.ravel(), np.outer(p, q).ravel()


def least_reaching(heights, chances, level):
    """Return the least height whose probability, and that of all lower ones, reaches a level."""
    order = np.argsort(heights)
    reached = np.cumsum(chances[order])
    at = heights[order]
    tied = np.append(np.diff(at) > 1e-12, True)  # the last of equal heights
    return at[tied][np.argmax(reached[tied] >= level - 1e-11)]


def check_enumeration(curve, parts, places, confidence):
    alpha = 1 - confidence
    bounds = (0, 1) if len(parts[0][1]) == 1 else (-1, 1)
    for sampling in SAMPLINGS:
        band = curve.band(confidence, method="exact", sampling=sampling, pc=places)
        for i, pc in enumerate(places):
            heights, chances = listed(parts, pc, full=sampling == "full")
            assert chances.sum() == pytest.approx(1)
            limits = [least_reaching(heights, chances, q) for q in (alpha / 2, 1 - alpha / 2)]
            room = 1e-9
            found = (band.low[i], band.high[i])
            assert found == pytest.approx(np.clip(limits, *bounds), abs=room)


@given(st.data())
def test_the_exact_band_of_a_line_lists_all_resamples(data):
    sizes = [data.draw(st.integers(1, 7)) for _ in range(2)]
    wrong = [data.draw(st.integers(0, n)) for n in sizes]
    line = CostLine(wrong[1] / sizes[1], 1 - wrong[0] / sizes[0], *sizes)
    parts = [(n, [k]) for n, k in zip(sizes, wrong, strict=True)]
    confidence = data.draw(st.sampled_from([0.5, 0.8, 0.9, 0.97]))
    check_enumeration(line, parts, PLACES, confidence)


@settings(max_examples=20)
@given(st.data())
def test_the_exact_band_of_a_difference_lists_all_resamples(data):
    tables = [
        data.draw(st.lists(st.integers(0, 2), min_size=4, max_size=4).filter(any)) for _ in range(2)
    ]  # both right, the first alone wrong, the second alone wrong, both wrong
    counts = np.zeros((2, 2, 2), dtype=int)
    for actual, (right, first, second, wrong) in enumerate(tables):
        other = 1 - actual
        counts[actual, actual, actual] = right
        counts[other, actual, actual] = first
        counts[actual, other, actual] = second
        counts[other, other, actual] = wrong
    if sum(map(sum, tables)) > 8:
        return
    difference = CostCurveDifference(PairedConfusion(counts, labels=[0, 1]))
    parts = [(sum(tables[actual]), tables[actual][1:3]) for actual in (1, 0)]
    check_enumeration(difference, parts, PLACES[1::3], data.draw(st.sampled_from([0.7, 0.95])))


def test_limits_are_the_least_values_whose_probability_reaches_the_level():
    """Of one coin in ten: P(0) = .349, P(≤ 1) = .736."""
    line = CostLine(0.1, 1.0, positives=1, negatives=10)
    for confidence, low, high in ((0.3, 0.1, 0.1), (0.31, 0, 0.1), (0.47, 0, 0.1), (0.48, 0, 0.2)):
        band = line.band(confidence, method="exact", pc=[0.0])
        assert (band.low[0], band.high[0]) == pytest.approx((low, high))


# Figure 11, and simulation


def test_figure_11():
    band = FIGURE_11.band(0.90, method="exact", pc=[0.5])
    assert (band.low[0], band.high[0]) == pytest.approx((0.15, 0.45), abs=1e-12)
    mean, variance = FIGURE_11.moments([0.5])
    assert (mean[0], variance[0]) == pytest.approx((0.3, 0.008), abs=1e-15)
    drawn = FIGURE_11.band(0.90, method="bootstrap", pc=[0.5], n_resamples=100_000, rng=0)
    assert (drawn.low[0], drawn.high[0]) == pytest.approx((0.15, 0.45), abs=1e-12)


def test_bootstrap_limits_come_close_to_the_exact_ones_as_resamples_grow():
    exact = FIGURE_11.band(0.90, method="exact")
    errors = []
    for size in (100, 2_000, 50_000):
        drawn = FIGURE_11.band(0.90, method="bootstrap", n_resamples=size, rng=1)
        gaps = np.concatenate([drawn.low - exact.low, drawn.high - exact.high])
        errors.append(np.abs(gaps).mean())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.001


def test_the_bootstrap_takes_the_fifth_lowest_and_highest_of_a_hundred():
    band = FIGURE_11.band(0.90, method="bootstrap", n_resamples=100, rng=5, pc=[0.0])
    rng = np.random.default_rng(5)
    rng.multinomial(20, [0.2, 0.8], 100)  # the positives are sampled first
    alarmed = np.sort(rng.multinomial(10, [0.4, 0.6], 100)[:, 0]) / 10
    assert (band.low[0], band.high[0]) == pytest.approx((alarmed[4], alarmed[95]))


@pytest.mark.parametrize("w", [0.3, 0.37])  # costs with a common step, and without
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_exact_band_agrees_with_drawing_many_examples(sampling, w):
    line = CostLine(0.1, 0.9, positives=300, negatives=700)
    rng = np.random.default_rng(2)
    size = 200_000
    if sampling == "stratified":
        missed, alarmed = rng.binomial(300, 0.1, size), rng.binomial(700, 0.1, size)
    else:
        missed, alarmed = rng.multinomial(1000, [0.03, 0.07, 0.9], size)[:, :2].T
    heights = w * missed / 300 + (1 - w) * alarmed / 700
    band = line.band(0.95, method="exact", sampling=sampling, pc=[w])
    for limit, level in ((band.low[0], 0.025), (band.high[0], 0.975)):
        assert (heights <= limit + 1e-9).mean() >= level - 0.0015
        assert (heights < limit - 1e-9).mean() <= level + 0.0015


def test_the_same_seed_gives_the_same_band_and_another_one_another():
    bands = [FIGURE_11.band(method="bootstrap", rng=seed) for seed in (3, 3, 4)]
    assert bands[0] == bands[1]
    assert bands[0] != bands[2]
    generators = [np.random.default_rng(3) for _ in range(2)]
    one, other = (FIGURE_11.band(method="bootstrap", rng=each) for each in generators)
    assert one == other == bands[0]


# Gaussian, mover and Wilson


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_gaussian_band_is_the_moments(sampling):
    mean, variance = FIGURE_11.moments(PLACES, sampling=sampling)
    band = FIGURE_11.band(0.9, method="gaussian", sampling=sampling, pc=PLACES)
    half = norm.ppf(0.95) * np.sqrt(variance)
    assert band.cost == pytest.approx(mean)
    assert band.low == pytest.approx(np.maximum(mean - half, 0))
    assert band.high == pytest.approx(np.minimum(mean + half, 1))


def rate_limits(k, n, alpha, weight=0.7):
    """Return the Beta limits of k in n, by scipy."""
    low = beta.ppf(alpha / 2, k, n - k + weight) if k else 0.0
    return low, beta.ppf(1 - alpha / 2, k + weight, n - k) if k < n else 1.0


@given(st.data())
def test_mover_combines_the_beta_limits_of_the_two_rates(data):
    sizes = [data.draw(st.integers(1, 500)) for _ in range(2)]
    wrong = [data.draw(st.integers(0, n)) for n in sizes]
    weight = data.draw(st.sampled_from([0.5, 0.7, 1.0]))
    line = CostLine(wrong[1] / sizes[1], 1 - wrong[0] / sizes[0], *sizes)
    band = line.band(0.9, pc=PLACES, weight=weight)
    both = [rate_limits(k, n, 0.1, weight) for k, n in zip(wrong, sizes, strict=True)]
    rates = [k / n for k, n in zip(wrong, sizes, strict=True)]
    for i, w in enumerate(PLACES):
        shares = (w, 1 - w)
        centre = sum(share * rate for share, rate in zip(shares, rates, strict=True))
        arms = [
            np.sqrt(
                sum(
                    (w * (r - limit[side])) ** 2
                    for w, r, limit in zip(shares, rates, both, strict=True)
                )
            )
            for side in (0, 1)
        ]
        expected = (max(centre - arms[0], 0), min(centre + arms[1], 1))
        assert (band.low[i], band.high[i]) == pytest.approx(expected, abs=1e-9)


@given(st.integers(1, 300), st.data())
def test_mover_is_the_beta_interval_where_one_class_alone_matters(n, data):
    missed, alarmed = data.draw(st.integers(0, n)), data.draw(st.integers(0, 40))
    line = CostLine(alarmed / 40, 1 - missed / n, n, 40)
    band = line.band(pc=[0.0, 1.0])
    for end, (k, size) in enumerate(((alarmed, 40), (missed, n))):
        limits = rate_limits(k, size, 0.05)
        assert (band.low[end], band.high[end]) == pytest.approx(limits, abs=1e-9)
    conservative = line.band(pc=[1.0], weight=1)
    clopper = binomtest(missed, n).proportion_ci(0.95, method="exact")
    assert (conservative.low[0], conservative.high[0]) == pytest.approx(tuple(clopper), abs=1e-9)


@given(st.integers(1, 300), st.data())
def test_wilson_is_wilsons_interval_where_one_class_alone_matters(n, data):
    k = data.draw(st.integers(0, n))
    band = CostLine(k / n, 0.5, 10, n).band(0.9, method="wilson", pc=[0.0])
    expected = binomtest(k, n).proportion_ci(0.9, method="wilson")
    assert (band.low[0], band.high[0]) == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.parametrize("method", NOT_DRAWN)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_swapping_the_classes_mirrors_the_band(method, sampling):
    line = CostLine(0.1, 0.75, positives=40, negatives=70)
    mirrored = CostLine(0.25, 0.9, positives=70, negatives=40)
    pc = np.array([0.0, 0.125, 0.25, 0.5, 0.625, 1.0])  # their complements are exact
    one = line.band(method=method, sampling=sampling, pc=pc)
    other = mirrored.band(method=method, sampling=sampling, pc=1 - pc)
    assert one.low == pytest.approx(other.low, abs=1e-9)
    assert one.high == pytest.approx(other.high, abs=1e-9)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_mover_never_collapses_and_the_papers_methods_do(sampling):
    perfect = CostLine(0.0, 1.0, positives=50, negatives=50)
    band = perfect.band(sampling=sampling)
    assert (band.high - band.low > 0.02).all()
    assert (band.low == 0).all()
    for method in ("gaussian", "exact"):
        papers = perfect.band(method=method, sampling=sampling)
        assert (papers.high == 0).all()


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("kind", ["line", "difference", "average"])
@pytest.mark.parametrize("method", ["mover", "wilson", "exact"])
def test_with_many_examples_all_methods_agree(sampling, kind, method):
    """The Gaussian knows the correlation of the cells, so mover's must be right too."""
    n = 40_000
    line = CostLine(0.3, 0.6, positives=n, negatives=2 * n)
    made = {
        "line": line,
        "average": average_curves([line, CostLine(0.2, 0.5, positives=n, negatives=n)]),
        "difference": CostCurveDifference(
            PairedConfusion(np.array([[[8, 2], [3, 1]], [[1, 2], [3, 6]]]) * n // 4, labels=[0, 1])
        ),
    }
    pc = np.array([0.0, 0.1, 0.5, 0.8, 1.0])
    curve = made[kind]
    expected = curve.band(method="gaussian", sampling=sampling, pc=pc)
    found = curve.band(method=method, sampling=sampling, pc=pc)
    width = expected.high - expected.low
    assert np.abs(found.low - expected.low).max() < 0.02 * width.min()
    assert np.abs(found.high - expected.high).max() < 0.02 * width.min()


# All methods


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_no_nan_however_nasty_the_scores(method, sampling):
    options = {"method": method, "sampling": sampling, **options_of(method)}
    curves = {name: CostCurve.from_scores(*given_) for name, given_ in NASTY.items()}
    for name, curve in curves.items():
        for pc in (PLACES, [0.0], [1.0], [1.0, 0.0, 0.5, 0.5]):
            band = curve.band(pc=pc, **options)
            assert all(np.isfinite(each).all() for each in arrays_of(band)), name
            assert (band.low <= band.high).all(), name
            assert ((band.low >= 0) & (band.high <= 1)).all(), name
            if method in ("mover", "wilson", "gaussian"):
                assert (band.low <= band.cost + 1e-12).all(), name
                assert (band.cost <= band.high + 1e-12).all(), name
            if method in ("mover", "wilson"):
                assert (band.high > band.low).all(), name
        assert "nan" not in band.summary() + band._repr_html_()


@pytest.mark.parametrize("method", METHODS)
def test_no_nan_in_nasty_differences(method):
    for (y_true, one), (others, other) in itertools.product(NASTY.values(), repeat=2):
        if len(y_true) != len(others):
            continue
        difference = CostCurveDifference.from_scores(y_true, one, other)
        for sampling in SAMPLINGS:
            band = difference.band(
                method=method, sampling=sampling, pc=PLACES, **options_of(method)
            )
            assert all(np.isfinite(each).all() for each in arrays_of(band))
            assert ((band.low >= -1) & (band.high <= 1) & (band.low <= band.high)).all()
            assert band.cost == pytest.approx(difference.difference(PLACES), abs=1e-12)


@pytest.mark.parametrize("method", NOT_DRAWN)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_band_is_the_same_whatever_other_conditions_are_asked_for(method, sampling):
    curve = CostCurve.from_scores([0, 1, 0, 1, 1, 0], [1, 2, 3, 4, 5, 6])
    whole = curve.band(method=method, sampling=sampling)
    for i in (0, 30, 100, 200):
        alone = curve.band(method=method, sampling=sampling, pc=[whole.pc[i]])
        assert [each[0] for each in arrays_of(alone)] == pytest.approx(
            [each[i] for each in arrays_of(whole)], abs=1e-9
        )


@pytest.mark.parametrize("method", METHODS)
def test_more_confidence_means_a_wider_band(method):
    options = {"rng": 0} if method == "bootstrap" else {}
    narrow, wide = (FIGURE_11.band(level, method=method, **options) for level in (0.5, 0.95))
    assert (wide.low <= narrow.low).all()
    assert (wide.high >= narrow.high).all()


def test_weighted_counts_cannot_be_drawn_again():
    curve = CostCurve.from_scores([0, 1, 0, 1], [1, 2, 3, 4], sample_weight=[1, 2, 3, 0.5])
    for method in ("exact", "bootstrap"):
        with pytest.raises(DesignError, match=f"method: '{method}' draws whole examples.*'mover'"):
            curve.band(method=method)
    for method in ("mover", "wilson", "gaussian"):
        assert all(np.isfinite(each).all() for each in arrays_of(curve.band(method=method)))


# The band as a result


def test_a_band_is_a_result_like_others():
    band = FIGURE_11.band(0.9, pc=[0.2, 0.5])
    assert isinstance(band, Band)
    assert pickle.loads(pickle.dumps(band)) == band  # noqa: S301 - made here
    assert hash(band) == hash(FIGURE_11.band(0.9, pc=[0.2, 0.5]))
    assert band != FIGURE_11.band(0.91, pc=[0.2, 0.5])
    frame = band.to_frame()
    assert frame.columns.tolist() == ["pc", "cost", "low", "high"]
    assert frame["pc"].tolist() == [0.2, 0.5]
    assert not frame.isna().any().any()
    content = band.to_dict()
    assert content["low"] == band.low.tolist()
    assert (content["method"], content["confidence"]) == ("mover", 0.9)
    assert band.summary().startswith("A 90% band (pointwise, mover) at 2 operating conditions; ")
    assert "full sampling" in FIGURE_11.band(sampling="full").kind()
    assert repr(band) == band.summary()
    assert band._repr_html_().count("<tr>") == 3
    with pytest.raises(ValueError, match="read-only"):
        band.low[0] = 0


def test_a_band_in_money():
    band = FIGURE_11.band(pc=[0.2, 0.5])
    money = band.times(300)
    assert money.cost.tolist() == pytest.approx((300 * band.cost).tolist())
    assert money.pc is band.pc or (money.pc == band.pc).all()
    each = band.times([100, 200])
    assert each.high.tolist() == pytest.approx([100 * band.high[0], 200 * band.high[1]])
    with pytest.raises(InputError, match="scale: expected what being always wrong costs, got -1"):
        band.times(-1)
    with pytest.raises(InputError, match="scale: expected finite numbers, got nan"):
        band.times(np.nan)


def test_as_many_scales_as_conditions_are_needed():
    with pytest.raises(InputError, match="scale"):
        FIGURE_11.band(pc=[0.2, 0.5]).times([1, 2, 3])


@pytest.mark.parametrize(
    ("given_", "error", "message"),
    [
        (
            {"method": "magic"},
            InputError,
            "method: expected one of 'mover', 'wilson', 'gaussian', 'exact', 'bootstrap'; got",
        ),
        ({"sampling": "some"}, InputError, "sampling: expected one of 'stratified', 'full'; got"),
        ({"confidence": 95}, InputError, "confidence: expected a number between 0 and 1, .*got 95"),
        ({"confidence": 0}, InputError, "confidence: expected a number between 0 and 1"),
        ({"confidence": "high"}, InputError, "confidence: expected a number between 0 and 1"),
        ({"pc": [0.2, 1.2]}, InputError, r"pc: an operating condition .* got 1\.2"),
        ({"pc": []}, InputError, "pc: expected a list of conditions"),
        (
            {"n_resamples": 500},
            InputTypeError,
            "n_resamples: the method 'mover' has no such option; it takes weight",
        ),
        (
            {"method": "exact", "weight": 1},
            InputTypeError,
            "weight: the method 'exact' has no such option; it takes none",
        ),
        ({"weight": 0}, InputError, "weight: expected a positive number, got 0"),
        ({"weight": np.nan}, InputError, "weight: expected finite numbers, got nan"),
        ({"weight": "heavy"}, (InputError, InputTypeError), "weight: expected"),
        (
            {"method": "bootstrap", "n_resamples": 30},
            InputError,
            "n_resamples: 30 are too few for limits at this confidence; at least 40 are needed",
        ),
        (
            {"method": "bootstrap", "n_resamples": 1.5},
            InputError,
            "n_resamples: expected a whole number",
        ),
        ({"method": "bootstrap", "rng": "seed"}, (InputError, InputTypeError), "rng: expected"),
        (
            {"method": "exact", "simultaneous": True},
            InputError,
            "simultaneous: bands by 'exact' are for one operating condition at a time.*'mover'",
        ),
        (
            {"method": "wilson", "simultaneous": True},
            InputError,
            "simultaneous: bands by 'wilson' are for one operating condition at a time",
        ),
    ],
)
def test_bad_input(given_, error, message):
    with pytest.raises(error, match=message):
        FIGURE_11.band(**given_)


def test_moments_check_what_they_are_asked_for():
    with pytest.raises(InputError, match="sampling: expected one of"):
        FIGURE_11.moments(sampling="whole")
    with pytest.raises(InputError, match="between 0 and 1; got -1"):
        FIGURE_11.moments([-1])
    table = Confusion([[6, 4], [4, 16]], labels=[0, 1])
    mean, _ = CostLine.from_counts(table).moments()
    assert len(mean) == 201


@pytest.mark.parametrize("sizes", [(30, 500), (20_000, 300_000)])
@pytest.mark.parametrize("miss", [0.2, 0.5])
def test_guesses_of_exact_limits_save_time_and_change_nothing(monkeypatch, sizes, miss):
    line = CostLine(0.01, 1 - miss, *sizes)
    bands = [line.band(0.9, method="exact", pc=PLACES)]
    for guessed in ([], [np.full(2, 0.001), np.full(2, 1e9)]):
        monkeypatch.setattr(exact, "_guesses", lambda *_, guessed=guessed: guessed)
        bands.append(line.band(0.9, method="exact", pc=PLACES))
    for band in bands[1:]:
        assert band.low == pytest.approx(bands[0].low, abs=1e-15)
        assert band.high == pytest.approx(bands[0].high, abs=1e-15)


@pytest.mark.parametrize(("n", "count"), [(1, 0), (1, 1), (7, 3), (900, 1), (10**6, 160_000)])
def test_numbers_of_mistakes_have_the_binomial_distribution(n, count):
    numbers, shares = exact._binomial(n, count)  # noqa: SLF001 - from which the band is computed
    expected = binom.pmf(numbers, n, count / n)
    assert shares == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert expected.sum() == pytest.approx(1, abs=1e-12)
