"""The compiled lazy option trees, against the reference implementation in plain Python."""

from functools import cache

import numpy as np
import pytest
from _helpers.lazy_oracle import Oracle, random_problem
from hypothesis import given, settings
from hypothesis import strategies as st

from stakes.learn.trees import _base
from stakes.learn.trees._base import grow_all, mean_probabilities, smallest_splits
from stakes.learn.trees._prepare import discrete_columns, make_table, read_columns
from stakes.learn.trees._workspace import (
    LANES,
    LARGEST_TABLE,
    LOCAL,
    MANY,
    MOST_TABLED,
    MOST_TABLES,
    Rules,
    new_data,
    new_space,
)
from stakes.learn.trees.lazy import LazyTrees

KINDS = ["continuous", "discrete", "mixed", "ties", "missing", "duplicates", "all"]


def table_of(X, y, discrete, classes):
    columns = read_columns(LazyTrees(), X, reset=True)
    return make_table(columns, discrete_columns(columns, discrete, None), y, classes)


def rules_of(table, options):
    at_node, min_leaf = options["thresholds"] == "node", options["min_leaf"]
    return Rules(
        options["max_tests"],
        options["gain_ratio"],
        min_leaf,
        options["laplace"],
        options["entropy"] == "balanced",
        at_node,
        options.get("ranking") == "information",
        options["average"] == "nodes",
        2 * min_leaf if at_node and not table.any_discrete else min_leaf + 1,
    )


def both(problem, counts, classes, options):
    """Return the probabilities of the compiled code and of the oracle."""
    X, y, queries, discrete = problem
    table = table_of(X, y, discrete, classes)
    asked = table.queries(read_columns(LazyTrees(), queries, reset=True))
    rules = rules_of(table, options)
    smallest = np.array([rules.smallest])
    if options.get("max_nodes"):
        smallest = smallest_splits(
            table, rules, counts[None], options["max_nodes"], n_jobs=1, verbose=0, name=""
        )
    got = mean_probabilities(
        table, rules, smallest, counts[None], asked, max_nodes=None, n_jobs=1, verbose=0, name=""
    )
    plain = Oracle(
        X.tolist(), y.tolist(), counts.tolist(), classes=classes, discrete=discrete, **options
    )
    if options.get("max_nodes"):
        assert smallest.tolist() == [plain.smallest]
    return got, np.array([plain.proba(x) for x in queries.tolist()])


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    bag=st.booleans(),
    shape=st.tuples(st.integers(2, 45), st.integers(2, 6), st.integers(2, 6)),
    options=st.fixed_dictionaries(
        {
            "max_tests": st.sampled_from([1, 2, 3, 5]),
            "gain_ratio": st.sampled_from([0.0, 0.2, 0.9, 1.0]),
            "min_leaf": st.sampled_from([1, 2, 3, 8]),
            "laplace": st.sampled_from([0.0, 0.5, 1.0]),
            "entropy": st.sampled_from(["balanced", "plain"]),
            "thresholds": st.sampled_from(["node", "query"]),
            "average": st.sampled_from(["leaves", "nodes"]),
        }
    ),
)
@settings(max_examples=150, deadline=None)
def test_as_the_plain_trees(seed, kind, bag, shape, options):
    n, attributes, classes = shape
    X, y, queries, discrete = random_problem(seed, n, attributes, classes, kind)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n, np.full(n, 1 / n)) if bag else np.ones(n, dtype=int)
    if options["max_tests"] == 5:  # there are many paths, and the plain trees follow each of them
        options = {**options, "min_leaf": max(options["min_leaf"], 3)}
    got, expected = both((X, y, queries[:4], discrete), counts, classes, options)
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    bag=st.booleans(),
    shape=st.tuples(st.integers(2, 40), st.integers(2, 6), st.integers(2, 6)),
    options=st.fixed_dictionaries(
        {
            "max_tests": st.sampled_from([1, 2, 3]),
            "gain_ratio": st.sampled_from([0.0, 0.2, 0.9, 1.0]),
            "min_leaf": st.sampled_from([1, 2, 3, 8]),
            "laplace": st.sampled_from([0.0, 0.5]),
            "entropy": st.sampled_from(["balanced", "plain"]),
            "average": st.sampled_from(["leaves", "nodes"]),
            "max_nodes": st.sampled_from([1, 2, 5, 10, 20, 10**6]),
        }
    ),
)
@settings(max_examples=100, deadline=None)
def test_as_the_plain_trees_by_information(seed, kind, bag, shape, options):
    n, attributes, classes = shape
    X, y, queries, discrete = random_problem(seed, n, attributes, classes, kind)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n, np.full(n, 1 / n)) if bag else np.ones(n, dtype=int)
    options = {**options, "thresholds": "node", "ranking": "information"}
    if options["max_nodes"] > 20:  # there are many paths, and the plain trees follow each of them
        options |= {"min_leaf": max(options["min_leaf"], 3), "max_tests": 2, "max_nodes": None}
    got, expected = both((X, y, queries[:4], discrete), counts, classes, options)
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("thresholds", ["node", "query"])
@pytest.mark.parametrize("entropy", ["balanced", "plain"])
@pytest.mark.parametrize("kind", KINDS)
def test_as_the_plain_trees_with_more_rows_than_the_small_paths_take(kind, entropy, thresholds):
    X, y, queries, discrete = random_problem(7, 150, 5, 3, kind)
    counts = np.random.default_rng(7).multinomial(150, np.full(150, 1 / 150))
    options = {
        "max_tests": 2,
        "gain_ratio": 0.2,
        "min_leaf": 5,
        "laplace": 0.0,
        "entropy": entropy,
        "thresholds": thresholds,
        "average": "leaves",
    }
    got, expected = both((X, y, queries[:3], discrete), counts, 3, options)
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    bag=st.booleans(),
    shape=st.tuples(
        st.integers(MANY // 2, MANY + 20),
        st.sampled_from([2, 5, LANES + 3]),
        st.sampled_from([2, 3, 9]),
    ),
    chosen=st.fixed_dictionaries(
        {
            "max_tests": st.sampled_from([1, 2]),
            "entropy": st.sampled_from(["balanced", "plain"]),
            "ranking": st.sampled_from(["side", "information"]),
        }
    ),
)
@settings(max_examples=20, deadline=None)
def test_as_the_plain_trees_in_nodes_too_large_for_tables(seed, kind, bag, shape, chosen):
    n, attributes, classes = shape
    X, y, queries, discrete = random_problem(seed, n, attributes, classes, kind)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n, np.full(n, 1 / n)) if bag else np.ones(n, dtype=int)
    options = {
        **chosen,
        "gain_ratio": 0.2,
        "min_leaf": 8,
        "laplace": 0.0,
        "thresholds": "node",
        "average": "leaves",
    }
    got, expected = both((X, y, queries[:2], discrete), counts, classes, options)
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("classes", [16, 40])
def test_as_the_plain_trees_with_many_classes(classes):
    X, y, queries, _ = random_problem(5, 110, 4, classes, "continuous")
    y[:classes] = np.arange(classes)
    options = {
        "max_tests": 3,
        "gain_ratio": 0.2,
        "min_leaf": 4,
        "laplace": 0.0,
        "entropy": "balanced",
        "thresholds": "node",
        "average": "leaves",
    }
    got, expected = both((X, y, queries[:3], []), np.ones(110, dtype=int), classes, options)
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)


def test_scores_that_differ_by_less_than_the_bounds_are_off_are_told_apart():
    """Each attribute is another's mirror image, or has two thresholds that are as good."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=100), np.repeat([0, 1, 2, 1, 0], 20)
    rank = np.argsort(np.argsort(x)).astype(float)
    X = np.column_stack([np.arange(100), -np.arange(100), rank, -rank, np.arange(100) // 5 * 1.0])
    options = {
        "max_tests": 3,
        "gain_ratio": 0.2,
        "min_leaf": 10,
        "laplace": 0.0,
        "entropy": "balanced",
        "thresholds": "node",
        "average": "leaves",
    }
    got, expected = both((X, y, X[::17] + 0.25, []), np.ones(100, dtype=int), 3, options)
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)


OPTIONS = {
    "max_tests": 3,
    "gain_ratio": 0.2,
    "min_leaf": 1,
    "laplace": 0.0,
    "entropy": "balanced",
    "thresholds": "node",
    "average": "leaves",
}


@pytest.mark.parametrize("thresholds", ["node", "query"])
@pytest.mark.parametrize("seed", range(10))
def test_questions_on_a_threshold_and_beside_values(seed, thresholds):
    """Even numbers have thresholds on odd ones; others are as near as numbers can be."""
    rng = np.random.default_rng(seed)
    near = [np.nextafter(1, 0), 1.0, np.nextafter(1, 2), np.nextafter(np.nextafter(1, 2), 2)]
    odd = np.array([*near, -1.7e308, -5e-324, -0.0, 0.0, 5e-324, 1.5, 2.0, 1.7e308])
    for X, queries in (
        (2.0 * rng.integers(0, 12, (30, 3)), 1.0 * rng.integers(-2, 26, (25, 3))),
        (rng.choice(odd, (30, 3)), rng.choice(odd, (25, 3))),
    ):
        problem = X, rng.integers(0, 3, 30), queries, []
        with np.errstate(over="ignore", invalid="ignore"):
            got, expected = both(problem, np.ones(30, int), 3, OPTIONS | {"thresholds": thresholds})
        np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_more_classes_and_attributes_than_vectors_take(missing):
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(60, 35)).round(1), rng.normal(size=(4, 35)).round(1)
    for values in (X, queries):
        values[rng.random(values.shape) < missing] = np.nan
    options = OPTIONS | {"max_tests": 2, "min_leaf": 3}
    got, expected = both((X, rng.integers(0, 20, 60), queries, []), np.ones(60, int), 20, options)
    np.testing.assert_allclose(got, expected, atol=1e-12)


def grown(table, rules, space, data, queries):
    return grow_all(table, rules, space, data, queries).proba


@cache
def factorisations(number, largest):
    """Return in how many ways a number is a product, of factors up to the largest."""
    if number == 1:
        return 1
    factors = (factor for factor in range(2, min(number, largest) + 1) if number % factor == 0)
    return sum(factorisations(number // factor, factor) for factor in factors)


def test_there_is_room_for_the_tables_of_all_small_nodes():
    """A table of counts n, m, … has (n + 1)(m + 1) … places, and nodes of any order share it."""
    sizes = range(2, LARGEST_TABLE + 1)
    assert sum(factorisations(size, size) for size in sizes) == MOST_TABLES
    assert sum(size * factorisations(size, size) for size in sizes) == MOST_TABLED


def test_codes_too_large_to_sort_attributes_together_change_nothing():
    X, y, queries, _ = random_problem(3, 120, 4, 3, "ties")
    table = table_of(X, y, [], 3)
    asked = table.queries(read_columns(LazyTrees(), queries, reset=True))
    rules, data = rules_of(table, OPTIONS), new_data(table, np.ones(120, dtype=int))
    many = data._replace(missing=1 << 32 - LOCAL)  # as if a feature had so many different values
    expected = grown(table, rules, new_space(table), data, asked)
    got = grown(table, rules, new_space(table), many, asked)
    np.testing.assert_allclose(got, expected, atol=1e-14)


@pytest.mark.parametrize("thresholds", ["node", "query"])
def test_the_room_of_another_graph_changes_nothing(thresholds):
    """Bags differ in their rows, and tasks in how many queries they have."""
    X, y, queries, discrete = random_problem(3, 120, 4, 3, "all")
    table = table_of(X, y, discrete, 3)
    asked = table.queries(read_columns(LazyTrees(), queries, reset=True))
    rules = rules_of(table, OPTIONS | {"thresholds": thresholds})
    rng, space = np.random.default_rng(0), new_space(table)
    for end in (2, len(asked), 1, len(asked), 3):
        data = new_data(table, np.bincount(rng.integers(0, 120, 120), minlength=120))
        expected = grown(table, rules, new_space(table), data, asked.part(0, end))
        got = grown(table, rules, space, data, asked.part(0, end))
        np.testing.assert_array_equal(got, expected)


def test_graphs_that_are_enlarged_often_change_nothing(monkeypatch):
    X, y, queries, _ = random_problem(3, 120, 4, 3, "continuous")
    table = table_of(X, y, [], 3)
    asked = table.queries(read_columns(LazyTrees(), queries, reset=True))
    rules, data = rules_of(table, OPTIONS), new_data(table, np.ones(120, dtype=int))
    expected = grown(table, rules, new_space(table), data, asked)
    enlarged, calls = _base._enlarged, []  # noqa: SLF001

    def by_little(graph, most_chosen):
        calls.append(1)
        return enlarged(graph, most_chosen)

    monkeypatch.setattr(_base, "longer", longer_by_little)
    monkeypatch.setattr(_base, "_enlarged", by_little)
    np.testing.assert_array_equal(grown(table, rules, new_space(table), data, asked), expected)
    assert len(calls) > 20


def longer_by_little(array, needed):
    if needed <= len(array):
        return array
    return np.concatenate([array, np.empty(needed - len(array) + 7, array.dtype)])
