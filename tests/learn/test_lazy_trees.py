import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from _helpers.lazy_oracle import Oracle, random_problem
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from stakes import CostMatrix
from stakes.errors import InputError, MissingExtraError
from stakes.learn import (
    BaggedLazyOptionTreesClassifier,
    BaggedLazyTreesClassifier,
    LazyOptionTreeClassifier,
    LazyTreeClassifier,
    MinimumRiskClassifier,
)
from stakes.learn.trees._base import chunk_size, query_bytes

ALONE = [LazyTreeClassifier, LazyOptionTreeClassifier]
BAGGED = [BaggedLazyTreesClassifier, BaggedLazyOptionTreesClassifier]
LITERAL = {"entropy": "plain", "thresholds": "query"}
INFORMED = {"ranking": "information", "max_nodes": 20}


@parametrize_with_checks(
    [
        LazyTreeClassifier(),
        LazyOptionTreeClassifier(**INFORMED),
        BaggedLazyTreesClassifier(3, random_state=0, **LITERAL),
        BaggedLazyOptionTreesClassifier(3, random_state=0),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# -- the thesis


def figure_4_3():
    """Return 24 patients of whom three tests select 8, 8 and 12, and the one who passes all."""
    X = pd.DataFrame("other", index=range(24), columns=["fr", "weight loss", "blood pressure"])
    X.loc[[5, 6, 7, 8, 9, 10, 22, 23], "fr"] = "6"
    X.loc[[0, 1, 2, 17, 18, 19, 20, 21], "weight loss"] = "NO"
    X.loc[[*range(7), *range(12, 17)], "blood pressure"] = "HIGH"
    return X, np.repeat(["perform", "skip"], 12), ["6", "NO", "HIGH"]


@pytest.mark.parametrize("average", ["leaves", "nodes"])
@pytest.mark.parametrize("preset", [{}, LITERAL])
def test_figure_4_3(preset, average):
    X, y, patient = figure_4_3()
    trees = LazyOptionTreeClassifier(min_leaf=8, gain_ratio=0.1, average=average, **preset)
    query = pd.DataFrame([patient], columns=X.columns)
    proba = trees.fit(X, y).predict_proba(query)
    np.testing.assert_allclose(proba, [[0.5694, 0.4306]], atol=5e-5)
    text = trees.explain(patient)
    leaves = [line.split(" -> ")[1] for line in text.splitlines() if "->" in line]
    assert leaves == [
        "perform: 0.7500, skip: 0.2500",
        "perform: 0.3750, skip: 0.6250",
        "perform: 0.5833, skip: 0.4167",
    ]
    assert text.endswith("perform: 0.5694, skip: 0.4306")


def test_a_lazy_tree_takes_the_best_test_only():
    X, y, patient = figure_4_3()
    tree = LazyTreeClassifier(min_leaf=8).fit(X, y)
    np.testing.assert_allclose(
        tree.predict_proba(pd.DataFrame([patient], columns=X.columns)), [[0.75, 0.25]]
    )
    assert tree.explain(patient).splitlines()[1:] == [
        "|-- fr = 6 (gain 0.189): 8 rows (perform: 6, skip: 2) -> perform: 0.7500, skip: 0.2500",
        "1 leaf, average of the leaves: perform: 0.7500, skip: 0.2500",
    ]


# -- trees against the reference implementation


@pytest.mark.parametrize("preset", [{}, LITERAL, INFORMED])
def test_bags_are_averaged(preset):
    X, y, queries, discrete = random_problem(5, 40, 4, 3, "all")
    trees = BaggedLazyOptionTreesClassifier(
        4, random_state=1, categorical_features=discrete, laplace=0.5, min_leaf=3, **preset
    ).fit(X, y)
    assert (trees.bags_.sum(axis=1) == 40).all()
    plain = [
        Oracle(
            X.tolist(),
            y.tolist(),
            counts.tolist(),
            classes=3,
            discrete=discrete,
            laplace=0.5,
            min_leaf=3,
            **preset,
        )
        for counts in trees.bags_
    ]
    expected = [np.mean([tree.proba(x) for tree in plain], axis=0) for x in queries.tolist()[:5]]
    np.testing.assert_allclose(trees.predict_proba(queries[:5]), expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["continuous", "all"])
@pytest.mark.parametrize("preset", [{}, LITERAL, INFORMED])
def test_the_text_has_the_leaves_and_tests_of_the_plain_tree(kind, preset):
    X, y, queries, discrete = random_problem(2, 60, 4, 3, kind)
    trees = LazyOptionTreeClassifier(categorical_features=discrete, **preset).fit(X, y)
    plain = Oracle(X.tolist(), y.tolist(), classes=3, discrete=discrete, **preset)

    def lines(rows, x, depth):
        for gain, a, subset, (sign, value) in plain.tests(rows, x):
            start = "|   " * depth + f"|-- feature_{a} {sign} {value:.6g} (gain {gain / 1e9:.3f})"
            yield start, plain._counts(subset)  # noqa: SLF001
            yield from lines(subset, x, depth + 1)

    for x in queries.tolist()[:2]:
        told = trees.explain(x, max_leaves=10_000).splitlines()
        expected = list(lines(list(range(len(y))), x, 0))
        assert len(told) == len(expected) + 2
        for line, (start, counts) in zip(told[1:], expected, strict=False):
            shown = ", ".join(f"{c}: {n}" for c, n in enumerate(counts) if n)
            assert line.replace(".0 (gain", " (gain").startswith(start), (line, start)
            assert f"{sum(counts)} rows ({shown})" in line
        assert told[-1].endswith(
            ", ".join(f"{c}: {share:.4f}" for c, share in enumerate(plain.proba(x)))
        )


def test_a_long_text_is_cut():
    X, y, queries, _ = random_problem(2, 60, 4, 3)
    trees = LazyOptionTreeClassifier(average="nodes").fit(X, y)
    whole, part = (trees.explain(queries[0], max_leaves=most) for most in (10_000, 2))
    leaves = whole.count("->")
    assert f"... {leaves - 2} of {leaves} leaves are not shown" in part
    assert part.count("->") == 2
    assert part.splitlines()[-1] == whole.splitlines()[-1]
    assert "average of each node's options" in whole


def test_one_bag_is_explained():
    X, y, queries, _ = random_problem(2)
    trees = BaggedLazyTreesClassifier(2, random_state=0).fit(X, y)
    assert trees.explain(queries[0]) == trees.explain(queries[:1], bag=0)
    assert trees.explain(queries[0]) != trees.explain(queries[0], bag=1)
    for bag, error in ((2, "expected 0 to 1"), (-1, "whole number")):
        with pytest.raises(InputError, match=f"bag: .*{error}"):
            trees.explain(queries[0], bag=bag)


def test_what_cannot_be_explained():
    X, y, _, _ = random_problem(2)
    trees = LazyTreeClassifier().fit(X, y)
    with pytest.raises(InputError, match="x: expected one row, got 2"):
        trees.explain(X[:2])
    with pytest.raises(InputError, match=r"x: expected one row of 5 features.*got 4 values"):
        trees.explain(X[0, :4])
    with pytest.raises(InputError, match="max_leaves: expected a whole number, 1 or more, got 0"):
        trees.explain(X[0], max_leaves=0)


def test_a_row_of_a_data_frame_is_explained():
    X, y, patient = figure_4_3()
    tree = LazyTreeClassifier(min_leaf=8).fit(X, y)
    row = pd.Series(patient, index=X.columns)
    assert tree.explain(row[::-1]) == tree.explain(patient)
    with pytest.raises(InputError, match="x: the feature 'fr' is not among its names"):
        tree.explain(row.drop("fr"))


# -- reproducibility


@pytest.mark.parametrize("kind", [*ALONE, *BAGGED])
@pytest.mark.parametrize("preset", [{}, INFORMED])
def test_n_jobs_changes_not_a_bit(kind, preset, monkeypatch):
    monkeypatch.setattr("stakes.learn.trees._base.FEWEST_QUERIES", 4)
    X, y, queries, discrete = random_problem(1, 100, 6, 3, "all")
    trees = kind(categorical_features=discrete, **preset)
    if kind in BAGGED:
        trees.set_params(n_estimators=6, random_state=3)
    trees.fit(X, y)
    one, smallest = trees.predict_proba(queries), trees.smallest_split_
    for n_jobs in (2, 3, -1):
        np.testing.assert_array_equal(trees.set_params(n_jobs=n_jobs).predict_proba(queries), one)
    np.testing.assert_array_equal(trees.fit(X, y).smallest_split_, smallest)


@pytest.mark.parametrize("preset", [{}, LITERAL])
def test_answers_do_not_depend_on_who_else_asks(preset):
    X, y, queries, discrete = random_problem(1, 100, 6, 3, "all")
    trees = BaggedLazyOptionTreesClassifier(
        3, categorical_features=discrete, random_state=0, **preset
    ).fit(X, y)
    together = trees.predict_proba(queries)
    for size in (1, 3, len(queries) - 1):
        parts = [queries[start : start + size] for start in range(0, len(queries), size)]
        apart = np.concatenate([trees.predict_proba(part) for part in parts])
        np.testing.assert_allclose(apart, together, atol=1e-14, rtol=0)
    np.testing.assert_allclose(trees.predict_proba(queries[::-1])[::-1], together, atol=1e-14)


@pytest.mark.parametrize("kind", ["continuous", "all"])
@pytest.mark.parametrize("max_nodes", [1, 10, 100, None])
def test_a_budget_of_nodes_does_not_depend_on_who_asks(kind, max_nodes):
    X, y, queries, discrete = random_problem(1, 100, 6, 3, kind)
    trees = BaggedLazyOptionTreesClassifier(
        3,
        ranking="information",
        max_nodes=max_nodes,
        average="nodes",
        categorical_features=discrete,
        random_state=0,
    ).fit(X, y)
    together = trees.predict_proba(queries)
    alone = np.concatenate([trees.predict_proba(query[np.newaxis]) for query in queries])
    np.testing.assert_allclose(alone, together, atol=1e-14, rtol=0)
    np.testing.assert_allclose(trees.predict_proba(queries[::-1])[::-1], together, atol=1e-14)


def test_more_paths_than_a_number_can_count():
    """Each test peels off a row or two, and three equal attributes triple the paths each time."""
    x, y = np.arange(1500.0)[:, np.newaxis], np.arange(1500) % 2
    X = np.repeat(x, 3, axis=1)
    trees = LazyOptionTreeClassifier(min_leaf=1, laplace=0.1).fit(X, y)
    one = LazyTreeClassifier(min_leaf=1, laplace=0.1).fit(x, y)
    asked = [1, 700, 750, 1498]
    expected = one.predict_proba(x[asked] + 0.2)
    np.testing.assert_allclose(trees.predict_proba(X[asked] + 0.2), expected, atol=1e-12, rtol=0)
    *_, levels, total = trees.explain(X[750] + 0.2, max_leaves=1).splitlines()
    assert levels == "... over 1e150 of over 1e150 leaves are not shown"
    assert total.startswith("over 1e150 leaves, average of the leaves: 0: ")


@pytest.mark.parametrize("kind", [*ALONE, *BAGGED])
def test_a_budget_of_nodes_leaves_the_smallest_unsplit(kind):
    X, y, queries, _ = random_problem(1, 100, 6, 3)
    trees = kind(ranking="information", max_nodes=1)
    if kind in BAGGED:
        trees.set_params(n_estimators=2, random_state=0)
    found = []
    for max_nodes in (1, 5, 10**30, None):
        smallest = trees.set_params(max_nodes=max_nodes).fit(X, y).smallest_split_
        assert np.shape(smallest) == ((2,) if kind in BAGGED else ())
        found.append(np.max(smallest))
    assert found[0] > found[1] > found[2] == found[3] == 4
    only_root = trees.set_params(max_nodes=1).fit(X, y).explain(queries[0]).splitlines()
    assert not any(line.startswith("|   ") for line in only_root)
    sides = trees.set_params(ranking="side").fit(X, y).smallest_split_
    assert np.all(np.equal(sides, 4))  # no budget


@pytest.mark.parametrize("kind", BAGGED)
def test_random_state_decides_on_the_bags(kind):
    X, y, queries, _ = random_problem(1)
    first, again, other = (
        kind(5, random_state=seed).fit(X, y) for seed in (1, np.random.RandomState(1), 2)
    )
    np.testing.assert_array_equal(first.predict_proba(queries), again.predict_proba(queries))
    assert (first.bags_ != other.bags_).any()


@pytest.mark.parametrize("kind", [*ALONE, *BAGGED])
def test_copies_predict_the_same(kind):
    X, y, queries, discrete = random_problem(1, kind="mixed")
    trees = kind(categorical_features=discrete)
    if kind in BAGGED:
        trees.set_params(n_estimators=3, random_state=0)
    expected = trees.fit(X, y).predict_proba(queries)
    for copy in (pickle.loads(pickle.dumps(trees)), clone(trees).fit(X, y)):  # noqa: S301
        np.testing.assert_array_equal(copy.predict_proba(queries), expected)


# -- degenerate data


@pytest.mark.parametrize("kind", [*ALONE, *BAGGED])
@pytest.mark.parametrize("preset", [{}, LITERAL, INFORMED])
def test_degenerate_data(kind, preset):
    trees = kind(**preset)
    if kind in BAGGED:
        trees.set_params(n_estimators=2, random_state=0)
    one_row = clone(trees).fit([[1.0, np.nan]], ["a"])
    assert one_row.predict_proba([[0.0, 1.0], [2.0, np.nan]]).tolist() == [[1.0], [1.0]]
    one_class = clone(trees).fit([[1.0], [2.0], [3.0]], ["a", "a", "a"])
    assert one_class.predict([[5.0]]).tolist() == ["a"]
    useless = np.column_stack([np.full(6, np.nan), np.full(6, 3.0)])
    constant = clone(trees).set_params(laplace=1.0).fit(useless, [0, 0, 1, 1, 2, 2])
    proba = constant.predict_proba([[1.0, 2.0], [np.nan, 4.0]])
    if kind in ALONE:
        np.testing.assert_allclose(proba, 1 / 3)
    np.testing.assert_array_equal(proba[0], proba[1])
    same = clone(trees).fit(np.ones((40, 2)), np.arange(40) % 4 == 0)
    assert same.predict([[1.0, 1.0]]).tolist() == [False]
    if kind in ALONE:
        np.testing.assert_allclose(same.predict_proba([[1.0, 1.0]]), [[0.75, 0.25]])


def test_min_leaf_larger_than_the_data():
    X, y, queries, _ = random_problem(4)
    trees = LazyOptionTreeClassifier(min_leaf=10**30).fit(X, y)
    np.testing.assert_allclose(
        trees.predict_proba(queries), np.tile(np.bincount(y) / len(y), (len(queries), 1))
    )


def test_more_tests_than_attributes():
    X, y, queries, _ = random_problem(4)
    trees = LazyOptionTreeClassifier(max_tests=10**30, min_leaf=10).fit(X, y)
    few = LazyOptionTreeClassifier(max_tests=5, min_leaf=10).fit(X, y)
    np.testing.assert_array_equal(trees.predict_proba(queries), few.predict_proba(queries))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_tests": 0}, "max_tests: expected a whole number, 1 or more, got 0"),
        ({"min_leaf": 1.5}, "min_leaf: expected a whole number"),
        ({"gain_ratio": 1.1}, "gain_ratio: expected a share of the best gain.*got 1.1"),
        ({"gain_ratio": np.nan}, "gain_ratio: expected finite"),
        ({"laplace": -1}, "laplace: expected a number, 0 or more, got -1"),
        ({"entropy": "gini"}, "entropy: expected one of 'balanced', 'plain'; got 'gini'"),
        ({"thresholds": "all"}, "thresholds: expected one of"),
        ({"average": "mean"}, "average: expected one of"),
        ({"ranking": "gain"}, "ranking: expected one of 'side', 'information'; got 'gain'"),
        (
            {"ranking": "information", "thresholds": "query"},
            "ranking: 'information'.*needs thresholds='node', got thresholds='query'",
        ),
        ({"max_nodes": 0}, "max_nodes: expected a whole number, 1 or more, got 0"),
        ({"n_estimators": 0}, "n_estimators: expected a whole number, 1 or more, got 0"),
    ],
)
def test_bad_parameters(options, said):
    with pytest.raises(InputError, match=said):
        BaggedLazyOptionTreesClassifier(**options).fit([[0], [1]], [0, 1])


def test_too_many_classes():
    with pytest.raises(InputError, match="y: lazy trees take up to 65535 classes, got 70000"):
        LazyTreeClassifier().fit(np.zeros((140_000, 1)), np.arange(140_000) // 2)


# -- costs


def test_probabilities_are_for_decisions_by_cost():
    X, y, queries, _ = random_problem(11, 200, 4, 2)
    labels = np.array(["ill", "well"])
    costs = CostMatrix([[0, 1], [9, -2]], rows="predicted", labels=["ill", "well"])
    trees = BaggedLazyOptionTreesClassifier(10, random_state=0)
    model = MinimumRiskClassifier(trees, costs).fit(X, labels[y])
    proba = clone(trees).fit(X, labels[y]).predict_proba(queries)
    expected = np.where(proba[:, 1] < 9 * proba[:, 0] - 2 * proba[:, 1], "ill", "well")
    np.testing.assert_array_equal(model.predict(queries), expected)
    assert (model.predict(queries) != trees.fit(X, labels[y]).predict(queries)).any()


# -- long predictions


def test_progress_is_told(capsys):
    X, y, queries, _ = random_problem(1)
    trees = BaggedLazyTreesClassifier(3, random_state=0, verbose=2).fit(X, y)
    trees.predict_proba(queries)
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 3
    assert told.err.startswith("[BaggedLazyTreesClassifier] 1 of 3 tasks done in ")
    trees.set_params(verbose=1).predict_proba(queries)
    assert "3 of 3 tasks" in capsys.readouterr().err.splitlines()[-1]
    trees.set_params(verbose=0).predict_proba(queries)
    assert capsys.readouterr().err == ""
    trees.set_params(verbose=2, **INFORMED).fit(X, y)
    assert "3 of 3 tasks" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_a_prediction(n_jobs, monkeypatch):
    X, y, queries, _ = random_problem(1)
    trees = BaggedLazyTreesClassifier(400, random_state=0, n_jobs=n_jobs).fit(X, y)
    done = []

    def interrupt(_, more):
        done.append(more)
        raise KeyboardInterrupt

    expected = trees.predict_proba(queries)
    with monkeypatch.context() as patch:
        patch.setattr("stakes.learn.trees._base._Progress.tell", interrupt)
        with pytest.raises(KeyboardInterrupt):
            trees.predict_proba(queries)
    assert len(done) == 1
    np.testing.assert_array_equal(trees.predict_proba(queries), expected)


def test_without_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MissingExtraError, match=r"numba.*pip install 'stakes\[trees\]'"):
        LazyTreeClassifier().fit([[0], [1]], [0, 1])


def test_numba_loads_when_trees_grow():
    code = (
        "import sys, stakes.learn as learn; model = learn.LazyTreeClassifier();"
        "print('numba' in sys.modules); model.fit([[0], [1]], [0, 1]).predict([[0]]);"
        "print('numba' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("rows", [1, 50, 1000, 20_000, 100_000, 10**7])
@pytest.mark.parametrize("bags", [1, 50])
@pytest.mark.parametrize("budget", [(False, None), (True, None), (True, 10_000), (True, 10**9)])
def test_tasks_are_cut_to_fit_into_memory(rows, bags, budget):
    by_information, max_nodes = budget
    each = query_bytes(rows, max_nodes, by_information=by_information)
    assert rows**1.5 <= each <= query_bytes(rows, None, by_information=True)
    chunk = chunk_size(each, 100_000, bags)
    assert chunk == 1 or chunk * each <= 200 * 2**20
    assert 1 <= chunk <= 100_000
    assert chunk_size(each, 3, bags) <= 3


def test_a_few_bags_are_cut_by_queries():
    assert [chunk_size(1000, 32_000, bags) for bags in (1, 4, 50)] == [2000, 8000, 32_000]
    assert chunk_size(1000, 1000, 1) == 1000
