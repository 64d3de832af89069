"""Lazy trees and lazy option trees, alone and bagged (thesis, sections 4.5 and 4.6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes.errors import InputError
from stakes.learn.trees._base import LazyTrees
from stakes.learn.trees._prepare import FROM_DTYPE


class LazyTreeClassifier(LazyTrees):
    r"""Grow a decision tree for each query, with tests that the query itself passes (LT).

    A tree for one query is a path. Each node takes the test that most decreases the entropy
    :math:`-\sum_j p_j \log_2 p_j` on the query's side, with the shares :math:`p_j` of the
    classes: its gain is the node's entropy minus that of the side. The class frequencies in the
    last node are the probabilities,

    .. math:: P(j | x) = \frac{N_j + \lambda}{N + K \lambda},

    with :math:`N_j` of its :math:`N` rows in class :math:`j` of :math:`K` and :math:`\lambda` for
    `laplace`: equation 4.3 of the thesis with 0, else 4.2.

    Parameters
    ----------
    min_leaf : int, default 2
        Minimum number of rows that pass a test.
    laplace : float, default 0.0
        Number added to the count of each class in a leaf.
    entropy : {"balanced", "plain"}, default "balanced"
        Whether all classes weigh the same at a node, as in Friedman's lazy trees, or all rows.
    thresholds : {"node", "query"}, default "node"
        Whether a threshold is the best for both sides, as in any tree, or for the query's side.
    ranking : {"side", "information"}, default "side"
        Whether tests are ranked by how much they decrease the entropy on the query's side, as in
        the thesis, or on all sides, as in any tree. The latter needs ``thresholds="node"``.
    max_nodes : int or None, default 10000
        With ``ranking="information"``: maximum number of nodes of the training data that are split,
        the largest ones; None for all.
    categorical_features : "from_dtype", None or array_like, default "from_dtype"
        The categorical features. By default, those of text and categorical type, and those of
        object type with values that are not numbers; with None, none. Or their indices, their
        names, or a boolean mask.
    n_jobs : int, optional
        Number of threads that grow trees. The results do not depend on it.
    verbose : int, default 0
        With 1, print the progress of predictions once a second; with 2, after each part.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    is_categorical_ : ndarray
        Whether each feature is categorical.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.
    smallest_split_ : int
        Smallest number of rows of nodes that are split, if they have a test.

    See Also
    --------
    LazyOptionTreeClassifier : takes several tests at a node.
    BaggedLazyTreesClassifier : averages the trees of bootstrap samples.

    Notes
    -----
    A row without a value fails every test of that feature. A feature without a value in the query,
    a category that no row has, and a feature that is constant or missing everywhere are not tested.
    Where no test remains, as with one row, one class, or fewer rows than `min_leaf`, the shares of
    the classes at that node are the probabilities.

    References
    ----------
    Friedman et al. (1996).

    Margineantu (2001), section 4.5, Table 4.2 and equation 4.3.

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
            Maximum number of leaves to show.

        Returns
        -------
        str
        """
        return self._explain(x, 0, max_leaves)


class LazyOptionTreeClassifier(LazyTrees):
    r"""Grow a tree for each query that takes several of the best tests at each node (LOT).

    Each node takes all tests whose gain is not much below the best one's, up to `max_tests`, and
    each leads to its own node. The probabilities are the average over all leaves :math:`\ell`,

    .. math:: P(j | x) = \frac{1}{L} \sum_{\ell=1}^{L} \frac{N_{\ell j}}{N_\ell},

    equation 4.3 of the thesis in each leaf, or 4.2 with `laplace`.

    Parameters
    ----------
    max_tests : int, default 3
        Maximum number of tests of a node.
    gain_ratio : float, default 0.2
        Minimum gain of a test, as a share of the gain of the node's best test.
    min_leaf : int, default 2
        Minimum number of rows that pass a test.
    laplace : float, default 0.0
        Number added to the count of each class in a leaf.
    entropy : {"balanced", "plain"}, default "balanced"
        Whether all classes weigh the same at a node, as in Friedman's lazy trees, or all rows.
    thresholds : {"node", "query"}, default "node"
        Whether a threshold is the best for both sides, as in any tree, or for the query's side.
    ranking : {"side", "information"}, default "side"
        Whether tests are ranked by how much they decrease the entropy on the query's side, as in
        the thesis, or on all sides, as in any tree. The latter needs ``thresholds="node"``.
    max_nodes : int or None, default 10000
        With ``ranking="information"``: maximum number of nodes of the training data that are split,
        the largest ones; None for all.
    average : {"leaves", "nodes"}, default "leaves"
        Whether all leaves count the same, or all options of a node, from the leaves up.
    categorical_features : "from_dtype", None or array_like, default "from_dtype"
        The categorical features. By default, those of text and categorical type, and those of
        object type with values that are not numbers; with None, none. Or their indices, their
        names, or a boolean mask.
    n_jobs : int, optional
        Number of threads that grow trees. The results do not depend on it.
    verbose : int, default 0
        With 1, print the progress of predictions once a second; with 2, after each part.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    is_categorical_ : ndarray
        Whether each feature is categorical.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.
    smallest_split_ : int
        Smallest number of rows of nodes that are split, if they have a test.

    See Also
    --------
    LazyTreeClassifier : takes one test at a node; its notes describe missing values.
    BaggedLazyOptionTreesClassifier : averages the trees of bootstrap samples.

    Notes
    -----
    The thesis leaves the entropy and the choice of thresholds open. ``entropy="plain"`` with
    ``thresholds="query"`` is its literal reading; the defaults give better probabilities.

    References
    ----------
    Margineantu (2001), section 4.6.

    Friedman et al. (1996).

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
            Maximum number of leaves to show.

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
            The number of the bag, from 0.
        max_leaves : int, default 100
            Maximum number of leaves to show.

        Returns
        -------
        str
        """
        number = validate.as_size(bag, "bag")
        if hasattr(self, "bags_") and number >= len(self.bags_):
            raise InputError("bag", f"expected 0 to {len(self.bags_) - 1}, got {bag!r}.")
        return self._explain(x, number, max_leaves)


class BaggedLazyTreesClassifier(_Bagged):
    r"""Average the probabilities of lazy trees, grown from bootstrap samples (B-LT).

    :math:`P(j | x) = \frac{1}{B} \sum_b P_b(j | x)` over the :math:`B` samples, with the shares of
    the classes in a tree's leaf, equation 4.3 of the thesis, as :math:`P_b`.

    Parameters
    ----------
    n_estimators : int, default 50
        Number of bootstrap samples.
    min_leaf : int, default 2
        Minimum number of rows that pass a test; repeated rows count as often as drawn.
    laplace : float, default 0.0
        Number added to the count of each class in a leaf.
    entropy : {"balanced", "plain"}, default "balanced"
        Whether all classes weigh the same at a node, as in Friedman's lazy trees, or all rows.
    thresholds : {"node", "query"}, default "node"
        Whether a threshold is the best for both sides, as in any tree, or for the query's side.
    ranking : {"side", "information"}, default "side"
        Whether tests are ranked by how much they decrease the entropy on the query's side, as in
        the thesis, or on all sides, as in any tree. The latter needs ``thresholds="node"``.
    max_nodes : int or None, default 10000
        With ``ranking="information"``: maximum number of nodes of each bag's tree that are split,
        the largest ones; None for all.
    categorical_features : "from_dtype", None or array_like, default "from_dtype"
        The categorical features. By default, those of text and categorical type, and those of
        object type with values that are not numbers; with None, none. Or their indices, their
        names, or a boolean mask.
    n_jobs : int, optional
        Number of threads that grow trees. The results do not depend on it.
    random_state : int, RandomState or None
        The source of randomness, for the samples.
    verbose : int, default 0
        With 1, print the progress of predictions once a second; with 2, after each part.

    Attributes
    ----------
    bags_ : ndarray, shape (n_estimators, n)
        Number of times that each sample has each row.
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    is_categorical_ : ndarray
        Whether each feature is categorical.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.
    smallest_split_ : ndarray, shape (n_estimators,)
        Smallest number of rows of nodes that are split in each bag, if they have a test.

    See Also
    --------
    LazyTreeClassifier : one tree; its notes describe missing values.
    BaggedLazyOptionTreesClassifier : takes several tests at a node.

    References
    ----------
    Margineantu (2001), sections 4.5, 4.6 and appendix B.

    Friedman et al. (1996).

    Breiman (1996).

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
        Number of bootstrap samples.
    max_tests : int, default 3
        Maximum number of tests of a node.
    gain_ratio : float, default 0.2
        Minimum gain of a test, as a share of the gain of the node's best test.
    min_leaf : int, default 2
        Minimum number of rows that pass a test; repeated rows count as often as drawn.
    laplace : float, default 0.0
        Number added to the count of each class in a leaf.
    entropy : {"balanced", "plain"}, default "balanced"
        Whether all classes weigh the same at a node, as in Friedman's lazy trees, or all rows.
    thresholds : {"node", "query"}, default "node"
        Whether a threshold is the best for both sides, as in any tree, or for the query's side.
    ranking : {"side", "information"}, default "side"
        Whether tests are ranked by how much they decrease the entropy on the query's side, as in
        the thesis, or on all sides, as in any tree. The latter needs ``thresholds="node"``.
    max_nodes : int or None, default 10000
        With ``ranking="information"``: maximum number of nodes of each bag's tree that are split,
        the largest ones; None for all.
    average : {"leaves", "nodes"}, default "leaves"
        Whether all leaves count the same, or all options of a node, from the leaves up.
    categorical_features : "from_dtype", None or array_like, default "from_dtype"
        The categorical features. By default, those of text and categorical type, and those of
        object type with values that are not numbers; with None, none. Or their indices, their
        names, or a boolean mask.
    n_jobs : int, optional
        Number of threads that grow trees. The results do not depend on it.
    random_state : int, RandomState or None
        The source of randomness, for the samples.
    verbose : int, default 0
        With 1, print the progress of predictions once a second; with 2, after each part.

    Attributes
    ----------
    bags_ : ndarray, shape (n_estimators, n)
        Number of times that each sample has each row.
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    is_categorical_ : ndarray
        Whether each feature is categorical.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.
    smallest_split_ : ndarray, shape (n_estimators,)
        Smallest number of rows of nodes that are split in each bag, if they have a test.

    See Also
    --------
    LazyOptionTreeClassifier : one option tree; its notes state what the thesis leaves open.
    MinimumRiskClassifier : takes the cheapest decision by these probabilities.

    References
    ----------
    Margineantu (2001), section 4.6 and appendix B.

    Breiman (1996).

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
