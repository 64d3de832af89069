"""Lazy trees and lazy option trees, alone and bagged (thesis, sections 4.5 and 4.6)."""

from __future__ import annotations

from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from stakes._core import validate
from stakes._core.labels import plain
from stakes.errors import InputError
from stakes.learn._base import needs_classes, read_classes
from stakes.learn.trees._explain import tree_text
from stakes.learn.trees._prepare import (
    FROM_DTYPE,
    Column,
    Table,
    discrete_columns,
    make_table,
    needs_numba,
    read_columns,
    row_columns,
)
from stakes.learn.trees._run import mean_probabilities, smallest_splits

# What the lazy trees share: fitting keeps the rows, predicting grows the trees.

ENTROPIES = ["balanced", "plain"]
THRESHOLDS = ["node", "query"]
RANKINGS = ["side", "information"]
AVERAGES = ["leaves", "nodes"]

MOST_NODES = 1 << 30


class LazyTrees(ClassifierMixin, BaseEstimator):
    """Lazy trees, with options or without, in bags or not: the parameters tell."""

    categorical_features: Any
    n_jobs: int | None
    verbose: int
    classes_: NDArray[Any]
    smallest_split_: NDArray[np.int64] | int
    _table: Table

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training data, sorted by each feature; trees grow when queries come.

        With ``ranking="information"`` and a budget of nodes, this finds out how far it goes.

        Parameters
        ----------
        X : array_like or data frame
            The features. NaN and None are missing values.
        y : array_like, shape (n,)
            The classes.

        Returns
        -------
        LazyTrees
            Itself.
        """
        needs_numba()
        needs_classes(self, y)
        columns = read_columns(self, X, reset=True)
        actual, self.classes_ = read_classes(X, y)
        classes = np.searchsorted(self.classes_, actual)
        names = getattr(self, "feature_names_in_", None)
        self.is_categorical_ = discrete_columns(columns, self.categorical_features, names)
        self._table = make_table(columns, self.is_categorical_, classes, len(self.classes_))
        self._rules, self._max_nodes = self._read_rules()
        self._draw()
        self._spend()
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Grow the trees of the queries and return their class probabilities.

        Parameters
        ----------
        X : array_like or data frame
            The queries. Missing values, and categories that the training data do not have, are not
            tested.

        Returns
        -------
        ndarray, shape (n, classes)
            In the order of `classes_`.
        """
        check_is_fitted(self)
        needs_numba()
        queries = self._table.queries(read_columns(self, X, reset=False))
        return mean_probabilities(
            self._table,
            self._kernel_rules(),
            np.atleast_1d(self.smallest_split_),
            self._bags(),
            queries,
            max_nodes=self._max_nodes,
            n_jobs=self.n_jobs,
            verbose=int(self.verbose),
            name=type(self).__name__,
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each query; a tie goes to the first in `classes_`.

        Parameters
        ----------
        X : array_like or data frame
            The queries.

        Returns
        -------
        ndarray, shape (queries,)
            Their classes.
        """
        proba = self.predict_proba(X)
        return np.asarray(self.classes_[proba.argmax(axis=1)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _explain(self, x: Any, bag: int, max_leaves: Any) -> str:
        check_is_fitted(self)
        needs_numba()
        most = validate.as_size(max_leaves, "max_leaves", least=1)
        query = self._table.queries(self._one_row(x))
        labels = [str(plain(label)) for label in self.classes_]
        counts = self._bags()[bag]
        smallest = int(np.atleast_1d(self.smallest_split_)[bag])
        rules = self._kernel_rules()._replace(smallest=smallest)
        return tree_text(self._table, rules, counts, query, labels=labels, max_leaves=most)

    def _one_row(self, x: Any) -> list[Column]:
        frame = nw.from_native(x, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame) or np.ndim(x) > 1:
            columns = read_columns(self, x, reset=False)
            if len(columns[0].values) != 1:
                raise InputError(
                    f"x: expected one row, got {len(columns[0].values)}. Explain one query at a "
                    "time."
                )
            return columns
        names = getattr(self, "feature_names_in_", None)
        return row_columns(x, names, self.n_features_in_)

    def _bags(self) -> NDArray[np.uint16]:
        """Return how often each bag has each row; without bags, once."""
        drawn: NDArray[np.uint16] | None = getattr(self, "bags_", None)
        return np.ones((1, self._table.n_rows), np.uint16) if drawn is None else drawn

    def _draw(self) -> None:
        params = self.get_params(deep=False)
        if "n_estimators" not in params:
            return
        members, n = (
            validate.as_size(params["n_estimators"], "n_estimators", least=1),
            self._table.n_rows,
        )
        rng = check_random_state(params["random_state"])
        self.bags_ = np.empty((members, n), np.uint16)
        for counts in self.bags_:
            counts[:] = np.bincount(rng.randint(n, size=n), minlength=n)

    def _spend(self) -> None:
        """Find the size from which on nodes are split: all, or as many as the budget allows."""
        bags, rules, most = self._bags(), self._kernel_rules(), self._max_nodes
        smallest = np.full(len(bags), rules.smallest)
        if most is not None:
            smallest = smallest_splits(
                self._table,
                rules,
                bags,
                most,
                n_jobs=self.n_jobs,
                verbose=int(self.verbose),
                name=type(self).__name__,
            )
        self.smallest_split_ = smallest if hasattr(self, "bags_") else int(smallest[0])

    def _read_rules(self) -> tuple[tuple[Any, ...], int | None]:
        """Check the parameters; return them as the compiled code has them, and the budget."""
        params = {"max_tests": 1, "gain_ratio": 1.0, "average": "leaves"}
        params |= self.get_params(deep=False)
        n, attributes = self._table.n_rows, len(self._table.attributes)
        max_tests = min(validate.as_size(params["max_tests"], "max_tests", least=1), attributes)
        min_leaf = min(validate.as_size(params["min_leaf"], "min_leaf", least=1), n + 1)
        gain_ratio = validate.one_number(params["gain_ratio"], "gain_ratio")
        if not 0 <= gain_ratio <= 1:
            raise InputError(
                f"gain_ratio: expected a share of the best gain, from 0 to 1, got {gain_ratio!r}."
            )
        laplace = validate.one_number(params["laplace"], "laplace")
        if laplace < 0:
            raise InputError(f"laplace: expected a number, 0 or more, got {laplace!r}.")
        balanced = validate.choice(params["entropy"], "entropy", ENTROPIES) == "balanced"
        at_node = validate.choice(params["thresholds"], "thresholds", THRESHOLDS) == "node"
        by_information = validate.choice(params["ranking"], "ranking", RANKINGS) == "information"
        if by_information and not at_node:
            raise InputError(
                "ranking: 'information' is what the thresholds of a node gain on both sides, and "
                "needs thresholds='node', got thresholds='query'."
            )
        max_nodes = params["max_nodes"]
        if max_nodes is not None:
            max_nodes = min(validate.as_size(max_nodes, "max_nodes", least=1), MOST_NODES)
        per_node = validate.choice(params["average"], "average", AVERAGES) == "nodes"
        # No test is admissible in a smaller node; thresholds at the node leave enough both sides.
        both_sides = at_node and not self._table.any_discrete
        smallest = 2 * min_leaf if both_sides else min_leaf + 1
        numbers = max_tests, gain_ratio, min_leaf, laplace
        rules = *numbers, balanced, at_node, by_information, per_node, smallest
        return rules, max_nodes if by_information else None

    def _kernel_rules(self) -> Any:
        from stakes.learn.trees._workspace import Rules

        return Rules(*self._rules)


class LazyTreeClassifier(LazyTrees):
    r"""Grow a decision tree for each query, with the tests that the query itself passes.

    A tree for one query is a path. At each node the test is taken that decreases the entropy
    :math:`-\sum_j p_j \log_2 p_j` most on the query's side, with the shares :math:`p_j` of the
    classes: its gain is the node's entropy minus that of the side. The shares of the classes in the
    last node are the probabilities,

    .. math:: P(j | x) = \frac{N_j + \lambda}{N + K \lambda},

    with :math:`N_j` of its :math:`N` rows in class :math:`j` of :math:`K` and :math:`\lambda` of
    `laplace`: equation 4.3 of the thesis with 0, else 4.2.

    Parameters
    ----------
    min_leaf : int, default 2
        How many rows a test must leave at least.
    laplace : float, default 0.0
        What is added to the count of each class in a leaf.
    entropy : {"balanced", "plain"}, default "balanced"
        Whether each class weighs the same at a node, as in Friedman's lazy trees, or each row.
    thresholds : {"node", "query"}, default "node"
        Whether a threshold is the best for both sides, as in any tree, or for the query's side.
    ranking : {"side", "information"}, default "side"
        Whether tests are ranked by how much they decrease the entropy on the query's side, as in
        the thesis, or on all sides, as in any tree. The latter needs ``thresholds="node"``.
    max_nodes : int or None, default 10000
        With ``ranking="information"``: how many nodes of the training data are split at most, the
        largest ones; None for all.
    categorical_features : "from_dtype", None or array_like, default "from_dtype"
        Which features have values that can only be told apart: those of text, categorical and
        object type; none; or those with these indices or names, or in this boolean mask.
    n_jobs : int, optional
        How many threads grow trees. The results do not depend on it.
    verbose : int, default 0
        With 1, say how far a prediction is once a second; with 2, after each part.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    is_categorical_ : ndarray
        Which features are categorical.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.
    smallest_split_ : int
        From how many rows on nodes are split, as far as tests are found.

    See Also
    --------
    LazyOptionTreeClassifier : takes several tests at a node.
    BaggedLazyTreesClassifier : averages the trees of bootstrap samples.

    Notes
    -----
    A row that misses a value fails every test of it. A feature that the query misses, a category
    that no row has, and a feature that is constant or missing everywhere are not tested. Where no
    test remains, as with one row, one class, or fewer rows than `min_leaf`, the shares of the
    classes at that node are the answer.

    References
    ----------
    Friedman, J. H., Kohavi, R. & Yun, Y. (1996). Lazy decision trees. *AAAI-96*, 717-724.

    Margineantu, D. D. (2001). *Methods for Cost-Sensitive Learning*. PhD thesis, Oregon State
    University, section 4.5, Table 4.2 and equation 4.3.

    Examples
    --------
    >>> from stakes.learn import LazyTreeClassifier
    >>> X = [["high", 38.1], ["high", 37.2], ["low", 36.8], ["low", 39.5], ["low", 37.0]]
    >>> model = LazyTreeClassifier().fit(X, ["ill", "ill", "well", "ill", "well"])
    >>> model.predict_proba([["low", 36.5]]).tolist()
    [[0.0, 1.0]]
    """

    def __init__(
        self,
        *,
        min_leaf: int = 2,
        laplace: float = 0.0,
        entropy: str = "balanced",
        thresholds: str = "node",
        ranking: str = "side",
        max_nodes: int | None = 10_000,
        categorical_features: Any = FROM_DTYPE,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.min_leaf = min_leaf
        self.laplace = laplace
        self.entropy = entropy
        self.thresholds = thresholds
        self.ranking = ranking
        self.max_nodes = max_nodes
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def explain(self, x: Any, *, max_leaves: int = 100) -> str:
        """Return the tree grown for one query as text.

        Parameters
        ----------
        x : array_like or data frame
            One row of features.
        max_leaves : int, default 100
            How many leaves to show at most.

        Returns
        -------
        str
        """
        return self._explain(x, 0, max_leaves)


class LazyOptionTreeClassifier(LazyTrees):
    r"""Grow a tree for each query that takes several of the best tests at each node.

    All tests whose gain is not much below the best one's are taken, up to `max_tests`, and each
    leads to a node of its own. The probabilities are the average over all leaves :math:`\ell`,

    .. math:: P(j | x) = \frac{1}{L} \sum_{\ell=1}^{L} \frac{N_{\ell j}}{N_\ell},

    equation 4.3 of the thesis in each leaf, or 4.2 with `laplace`.

    Parameters
    ----------
    max_tests : int, default 3
        How many tests a node takes at most.
    gain_ratio : float, default 0.2
        The least gain of a test, as a share of the gain of the node's best test.
    min_leaf : int, default 2
        How many rows a test must leave at least.
    laplace : float, default 0.0
        What is added to the count of each class in a leaf.
    entropy : {"balanced", "plain"}, default "balanced"
        Whether each class weighs the same at a node, as in Friedman's lazy trees, or each row.
    thresholds : {"node", "query"}, default "node"
        Whether a threshold is the best for both sides, as in any tree, or for the query's side.
    ranking : {"side", "information"}, default "side"
        Whether tests are ranked by how much they decrease the entropy on the query's side, as in
        the thesis, or on all sides, as in any tree. The latter needs ``thresholds="node"``.
    max_nodes : int or None, default 10000
        With ``ranking="information"``: how many nodes of the training data are split at most, the
        largest ones; None for all.
    average : {"leaves", "nodes"}, default "leaves"
        Whether all leaves count the same, or all options of a node, from the leaves up.
    categorical_features : "from_dtype", None or array_like, default "from_dtype"
        Which features have values that can only be told apart: those of text, categorical and
        object type; none; or those with these indices or names, or in this boolean mask.
    n_jobs : int, optional
        How many threads grow trees. The results do not depend on it.
    verbose : int, default 0
        With 1, say how far a prediction is once a second; with 2, after each part.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    is_categorical_ : ndarray
        Which features are categorical.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.
    smallest_split_ : int
        From how many rows on nodes are split, as far as tests are found.

    See Also
    --------
    LazyTreeClassifier : takes one test at a node, and says what happens to missing values.
    BaggedLazyOptionTreesClassifier : averages the trees of bootstrap samples.

    Notes
    -----
    The thesis leaves the entropy and the choice of thresholds open. ``entropy="plain"`` with
    ``thresholds="query"`` is its literal reading; the defaults give better probabilities.

    References
    ----------
    Margineantu, D. D. (2001). *Methods for Cost-Sensitive Learning*. PhD thesis, Oregon State
    University, section 4.6.

    Friedman, J. H., Kohavi, R. & Yun, Y. (1996). Lazy decision trees. *AAAI-96*, 717-724.

    Examples
    --------
    >>> import pandas as pd
    >>> from stakes.learn import LazyOptionTreeClassifier
    >>> pressure = ["high", "high", "low", "low", "low", "high", "low", "high"]
    >>> temperature = [38.1, 37.2, 36.8, 39.5, 37.0, 36.9, 38.2, 36.6]
    >>> X = pd.DataFrame({"pressure": pressure, "temperature": temperature})
    >>> y = ["ill", "ill", "well", "ill", "well", "ill", "well", "well"]
    >>> model = LazyOptionTreeClassifier().fit(X, y)
    >>> print(model.explain(["low", 38.0]))
    8 rows (ill: 4, well: 4)
    |-- pressure = low (gain 0.189): 4 rows (ill: 1, well: 3)
    |   |-- temperature > 37.6 (gain 0.189): 2 rows (ill: 1, well: 1) -> ill: 0.5000, well: 0.5000
    |-- temperature > 36.85 (gain 0.082): 6 rows (ill: 4, well: 2)
    |   |-- pressure = low (gain 0.278): 3 rows (ill: 1, well: 2) -> ill: 0.3333, well: 0.6667
    2 leaves, average of the leaves: ill: 0.4167, well: 0.5833
    """

    def __init__(
        self,
        *,
        max_tests: int = 3,
        gain_ratio: float = 0.2,
        min_leaf: int = 2,
        laplace: float = 0.0,
        entropy: str = "balanced",
        thresholds: str = "node",
        ranking: str = "side",
        max_nodes: int | None = 10_000,
        average: str = "leaves",
        categorical_features: Any = FROM_DTYPE,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_tests = max_tests
        self.gain_ratio = gain_ratio
        self.min_leaf = min_leaf
        self.laplace = laplace
        self.entropy = entropy
        self.thresholds = thresholds
        self.ranking = ranking
        self.max_nodes = max_nodes
        self.average = average
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def explain(self, x: Any, *, max_leaves: int = 100) -> str:
        """Return the tree grown for one query as text.

        Parameters
        ----------
        x : array_like or data frame
            One row of features.
        max_leaves : int, default 100
            How many leaves to show at most.

        Returns
        -------
        str
        """
        return self._explain(x, 0, max_leaves)


# Bagged lazy trees and lazy option trees (thesis, section 4.6 and appendix B).


class _Bagged(LazyTrees):
    bags_: NDArray[np.uint16]

    def explain(self, x: Any, *, bag: int = 0, max_leaves: int = 100) -> str:
        """Return the tree grown for one query in one bag as text.

        Parameters
        ----------
        x : array_like or data frame
            One row of features.
        bag : int, default 0
            Which bag.
        max_leaves : int, default 100
            How many leaves to show at most.

        Returns
        -------
        str
        """
        number = validate.as_size(bag, "bag")
        if hasattr(self, "bags_") and number >= len(self.bags_):
            raise InputError(f"bag: expected 0 to {len(self.bags_) - 1}, got {bag!r}.")
        return self._explain(x, number, max_leaves)


class BaggedLazyTreesClassifier(_Bagged):
    r"""Average the probabilities of lazy trees, grown from bootstrap samples.

    :math:`P(j | x) = \frac{1}{B} \sum_b P_b(j | x)` over the :math:`B` samples, with the shares of
    the classes in a tree's leaf, equation 4.3 of the thesis, as :math:`P_b`.

    Parameters
    ----------
    n_estimators : int, default 50
        How many bootstrap samples.
    min_leaf : int, default 2
        How many rows a test must leave at least, repeated ones counted as often as drawn.
    laplace : float, default 0.0
        What is added to the count of each class in a leaf.
    entropy : {"balanced", "plain"}, default "balanced"
        Whether each class weighs the same at a node, as in Friedman's lazy trees, or each row.
    thresholds : {"node", "query"}, default "node"
        Whether a threshold is the best for both sides, as in any tree, or for the query's side.
    ranking : {"side", "information"}, default "side"
        Whether tests are ranked by how much they decrease the entropy on the query's side, as in
        the thesis, or on all sides, as in any tree. The latter needs ``thresholds="node"``.
    max_nodes : int or None, default 10000
        With ``ranking="information"``: how many nodes of each bag's tree are split at most, the
        largest ones; None for all.
    categorical_features : "from_dtype", None or array_like, default "from_dtype"
        Which features have values that can only be told apart: those of text, categorical and
        object type; none; or those with these indices or names, or in this boolean mask.
    n_jobs : int, optional
        How many threads grow trees. The results do not depend on it.
    random_state : int, RandomState or None
        The source of randomness, for the samples.
    verbose : int, default 0
        With 1, say how far a prediction is once a second; with 2, after each part.

    Attributes
    ----------
    bags_ : ndarray, shape (n_estimators, n)
        How often each sample has each row.
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    is_categorical_ : ndarray
        Which features are categorical.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.
    smallest_split_ : ndarray, shape (n_estimators,)
        From how many rows on nodes are split in each bag, as far as tests are found.

    See Also
    --------
    LazyTreeClassifier : one tree, and what happens to missing values.
    BaggedLazyOptionTreesClassifier : takes several tests at a node.

    References
    ----------
    Margineantu, D. D. (2001). *Methods for Cost-Sensitive Learning*. PhD thesis, Oregon State
    University, sections 4.5, 4.6 and appendix B.

    Friedman, J. H., Kohavi, R. & Yun, Y. (1996). Lazy decision trees. *AAAI-96*, 717-724.

    Breiman, L. (1996). Bagging predictors. *Machine Learning* 24, 123-140.

    Examples
    --------
    >>> from stakes.learn import BaggedLazyTreesClassifier
    >>> X = [["high", 38.1], ["high", 37.2], ["low", 36.8], ["low", 39.5], ["low", 37.0]]
    >>> y = ["ill", "ill", "well", "ill", "well"]
    >>> model = BaggedLazyTreesClassifier(random_state=0).fit(X, y)
    >>> model.predict([["low", 36.5], ["high", 37.5]]).tolist()
    ['well', 'ill']
    """

    def __init__(
        self,
        n_estimators: int = 50,
        *,
        min_leaf: int = 2,
        laplace: float = 0.0,
        entropy: str = "balanced",
        thresholds: str = "node",
        ranking: str = "side",
        max_nodes: int | None = 10_000,
        categorical_features: Any = FROM_DTYPE,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_leaf = min_leaf
        self.laplace = laplace
        self.entropy = entropy
        self.thresholds = thresholds
        self.ranking = ranking
        self.max_nodes = max_nodes
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class BaggedLazyOptionTreesClassifier(_Bagged):
    r"""Average the probabilities of lazy option trees, grown from bootstrap samples (B-LOT).

    :math:`P(j | x) = \frac{1}{B} \sum_b P_b(j | x)` over the :math:`B` samples, with the average
    over the leaves of a sample's option tree as :math:`P_b`.

    Parameters
    ----------
    n_estimators : int, default 50
        How many bootstrap samples.
    max_tests : int, default 3
        How many tests a node takes at most.
    gain_ratio : float, default 0.2
        The least gain of a test, as a share of the gain of the node's best test.
    min_leaf : int, default 2
        How many rows a test must leave at least, repeated ones counted as often as drawn.
    laplace : float, default 0.0
        What is added to the count of each class in a leaf.
    entropy : {"balanced", "plain"}, default "balanced"
        Whether each class weighs the same at a node, as in Friedman's lazy trees, or each row.
    thresholds : {"node", "query"}, default "node"
        Whether a threshold is the best for both sides, as in any tree, or for the query's side.
    ranking : {"side", "information"}, default "side"
        Whether tests are ranked by how much they decrease the entropy on the query's side, as in
        the thesis, or on all sides, as in any tree. The latter needs ``thresholds="node"``.
    max_nodes : int or None, default 10000
        With ``ranking="information"``: how many nodes of each bag's tree are split at most, the
        largest ones; None for all.
    average : {"leaves", "nodes"}, default "leaves"
        Whether all leaves count the same, or all options of a node, from the leaves up.
    categorical_features : "from_dtype", None or array_like, default "from_dtype"
        Which features have values that can only be told apart: those of text, categorical and
        object type; none; or those with these indices or names, or in this boolean mask.
    n_jobs : int, optional
        How many threads grow trees. The results do not depend on it.
    random_state : int, RandomState or None
        The source of randomness, for the samples.
    verbose : int, default 0
        With 1, say how far a prediction is once a second; with 2, after each part.

    Attributes
    ----------
    bags_ : ndarray, shape (n_estimators, n)
        How often each sample has each row.
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    is_categorical_ : ndarray
        Which features are categorical.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.
    smallest_split_ : ndarray, shape (n_estimators,)
        From how many rows on nodes are split in each bag, as far as tests are found.

    See Also
    --------
    LazyOptionTreeClassifier : one option tree, and where the thesis leaves a choice.
    MinimumRiskClassifier : takes the cheapest decision by such probabilities.

    References
    ----------
    Margineantu, D. D. (2001). *Methods for Cost-Sensitive Learning*. PhD thesis, Oregon State
    University, section 4.6 and appendix B.

    Breiman, L. (1996). Bagging predictors. *Machine Learning* 24, 123-140.

    Examples
    --------
    A miss costs five false alarms:

    >>> from sklearn.datasets import make_classification
    >>> from stakes import CostMatrix
    >>> from stakes.learn import BaggedLazyOptionTreesClassifier, MinimumRiskClassifier
    >>> X, y = make_classification(200, random_state=0)
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=5)
    >>> trees = BaggedLazyOptionTreesClassifier(n_estimators=10, random_state=0)
    >>> model = MinimumRiskClassifier(trees, costs).fit(X[:150], y[:150])
    >>> model.predict(X[150:155]).tolist()
    [0, 1, 0, 0, 1]
    """

    def __init__(
        self,
        n_estimators: int = 50,
        *,
        max_tests: int = 3,
        gain_ratio: float = 0.2,
        min_leaf: int = 2,
        laplace: float = 0.0,
        entropy: str = "balanced",
        thresholds: str = "node",
        ranking: str = "side",
        max_nodes: int | None = 10_000,
        average: str = "leaves",
        categorical_features: Any = FROM_DTYPE,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_tests = max_tests
        self.gain_ratio = gain_ratio
        self.min_leaf = min_leaf
        self.laplace = laplace
        self.entropy = entropy
        self.thresholds = thresholds
        self.ranking = ranking
        self.max_nodes = max_nodes
        self.average = average
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
