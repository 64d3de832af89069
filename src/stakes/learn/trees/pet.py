"""Probability estimation trees, alone and bagged: unpruned, with smoothed leaves (section 4.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from stakes._core import validate
from stakes.errors import InputError
from stakes.learn.bagging import Bag, make_bag


class PETClassifier(DecisionTreeClassifier):
    r"""Probability estimation tree: an unpruned tree with smoothed leaves.

    A fully grown tree has few examples in each leaf, and their class shares are mostly 0 and 1. A
    leaf with :math:`N_j` examples of class :math:`j` out of :math:`N` has the probabilities

    .. math:: P(j | x) = \frac{N_j + \lambda_j}{N + \sum_i \lambda_i}

    instead (equation 4.2 of the thesis), as if it had :math:`\lambda_j` more examples.

    Parameters
    ----------
    min_samples_leaf : int or float, default 1
        Minimum number of examples in a leaf; a float is a share of all examples.
    laplace : float or array_like, shape (classes,), default 1.0
        The correction :math:`\lambda`, for all classes or for each, in the order of `classes_`.
        With 0, probabilities are the unsmoothed shares, as in scikit-learn's trees. With many
        classes 1 is a large correction: ``1 / n_classes`` adds one example in total.
    random_state : int, RandomState or None
        Random order in which features are tried, which decides between equally good splits.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    laplace_ : ndarray
        The correction for each class.
    tree_ : Tree
        The tree. This is a scikit-learn tree with the entropy criterion, and all that works with
        those works here, such as ``export_text`` and ``apply``; they show unsmoothed shares.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.

    See Also
    --------
    BaggedPETClassifier : the average of many, which has better probabilities.
    LazyOptionTreeClassifier : grows a tree for each query, and accepts categories.

    Notes
    -----
    Features are numbers, and may be missing (NaN); encode categories first. With weights, the
    counts of a leaf are sums of weights.

    References
    ----------
    Margineantu (2001), section 4.3 and equation 4.2.

    Provost & Domingos (2003).

    Examples
    --------
    Two of the three examples on the left are of class "a":

    >>> from stakes.learn import PETClassifier
    >>> X, y = [[1], [1], [1], [2], [2]], ["a", "a", "b", "b", "b"]
    >>> PETClassifier().fit(X, y).predict_proba([[1], [2]]).round(3).tolist()
    [[0.6, 0.4], [0.25, 0.75]]
    >>> PETClassifier(laplace=0).fit(X, y).predict_proba([[1], [2]]).round(3).tolist()
    [[0.667, 0.333], [0.0, 1.0]]
    """

    def __init__(
        self,
        *,
        min_samples_leaf: float = 1,
        laplace: Any = 1.0,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            criterion="entropy", min_samples_leaf=min_samples_leaf, random_state=random_state
        )
        self.laplace = laplace

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True
    ) -> PETClassifier:
        """Grow the tree.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame, shape (n, features)
            The features; dense ones may have missing values.
        y : array_like, shape (n,)
            The classes.
        sample_weight : array_like, shape (n,), optional
            The weights of the examples.
        check_input : bool, default True
            As in scikit-learn's trees: keep the default.

        Returns
        -------
        PETClassifier
            Itself.
        """
        y = _one_column(self, y)
        super().fit(X, y, sample_weight=sample_weight, check_input=check_input)
        self.laplace_ = correction(self.laplace, len(self.classes_))
        return self

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the most probable classes; a tie goes to the first in `classes_`.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame, shape (n, features)
            The features.
        check_input : bool, default True
            As in scikit-learn's trees: keep the default.

        Returns
        -------
        ndarray, shape (n,)
        """
        proba = self.predict_proba(X, check_input)
        return np.asarray(self.classes_[proba.argmax(axis=1)])

    def predict_proba(self, X: Any, check_input: bool = True) -> NDArray[np.float64]:
        """Return the class probabilities, in the order of `classes_`.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame, shape (n, features)
            The features.
        check_input : bool, default True
            As in scikit-learn's trees: keep the default.

        Returns
        -------
        ndarray, shape (n, classes)
            The probabilities.
        """
        check_is_fitted(self)
        leaves = self.apply(X, check_input)
        return np.asarray(smoothed_shares(self.tree_, self.laplace_)[leaves])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False  # costs are for one class per row
        tags.classifier_tags.multi_label = False
        return tags


class BaggedPETClassifier(ClassifierMixin, BaseEstimator):
    r"""Bagged probability estimation trees (B-PETs): the average of trees on bootstrap samples.

    Each tree is grown on as many examples as there are, drawn with replacement, and the
    probabilities of its smoothed leaves (equation 4.2 of the thesis) are averaged:
    :math:`P(j | x) = \frac{1}{B} \sum_b P_b(j | x)` over the :math:`B` trees.

    Parameters
    ----------
    n_estimators : int, default 50
        Number of trees.
    min_samples_leaf : int or float, default 1
        Minimum number of examples in a leaf; an example that was drawn twice counts twice.
    laplace : float or array_like, shape (classes,), default 1.0
        The correction of the leaves, as for `PETClassifier`. Classes that are missing from a
        sample get it too.
    random_state : int, RandomState or None
        The source of randomness. The same number gives the same result for any `n_jobs`.
    n_jobs : int, optional
        Number of trees to grow or apply in parallel.

    Attributes
    ----------
    estimators_ : list of DecisionTreeClassifier
        The trees, whose classes are positions in `classes_`.
    classes_ : ndarray
        The classes, in the order of the columns of `predict_proba`.
    laplace_ : ndarray
        The correction for each class.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray
        Their names, if they have names.

    See Also
    --------
    BaggedLazyOptionTreesClassifier : bagged trees that are grown for each query.
    MinimumRiskClassifier : takes the cheapest decision by these probabilities.

    References
    ----------
    Margineantu (2001), section 4.3, equation 4.2 and Table B.1.

    Provost & Domingos (2003).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stakes.learn import BaggedPETClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BaggedPETClassifier(random_state=0).fit(X, y)
    >>> model.predict_proba(X[[0, 70]]).round(1).tolist()
    [[1.0, 0.0, 0.0], [0.2, 0.4, 0.4]]
    """

    def __init__(
        self,
        n_estimators: int = 50,
        *,
        min_samples_leaf: float = 1,
        laplace: Any = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.laplace = laplace
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BaggedPETClassifier:
        """Grow the trees.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame, shape (n, features)
            The features; dense ones may have missing values.
        y : array_like, shape (n,)
            The classes.
        sample_weight : array_like, shape (n,), optional
            The weights of the examples: the proportions in which they are drawn.

        Returns
        -------
        BaggedPETClassifier
            Itself.
        """
        y = _one_column(self, y)
        features, y = validate_data(self, X, y, accept_sparse="csr", **FEATURES)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.laplace_ = correction(self.laplace, len(self.classes_))
        bag = make_bag(self.random_state, self.n_estimators, len(codes))
        if sample_weight is not None:
            bag = bag.weighted(validate.weights(sample_weight, len(codes), of="X"))
        tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=self.min_samples_leaf)
        self.estimators_ = list(
            Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(_grown)(tree.get_params(), features, codes, bag, int(seed))
                for seed in bag.seeds
            )
        )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable classes; a tie goes to the first in `classes_`.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame, shape (n, features)
            The features.

        Returns
        -------
        ndarray, shape (n,)
        """
        proba = self.predict_proba(X)
        return np.asarray(self.classes_[proba.argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the average class probabilities, in the order of `classes_`.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame, shape (n, features)
            The features.

        Returns
        -------
        ndarray, shape (n, classes)
            The probabilities.
        """
        check_is_fitted(self)
        features = validate_data(self, X, reset=False, accept_sparse="csr", **FEATURES)
        parts = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(_told)(tree, features, self.laplace_) for tree in self.estimators_
        )
        total = np.zeros((features.shape[0], len(self.classes_)))
        for part in parts:
            total += part
        return total / len(self.estimators_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


FEATURES: dict[str, Any] = {"dtype": np.float32, "ensure_all_finite": "allow-nan"}
"""Options for the validation of features, as in scikit-learn's trees."""


def correction(laplace: Any, classes: int) -> NDArray[np.float64]:
    """Return the correction for each class."""
    given = np.asarray(laplace)
    values = validate.numeric(laplace, "laplace", ndim=1 if given.ndim else 0)
    if values.ndim and len(values) != classes:
        raise InputError(
            "laplace",
            f"expected one number, or one for each of the {classes} classes of y, got "
            f"{len(values)} numbers.",
        )
    if not (np.isfinite(values) & (values >= 0)).all():
        raise InputError("laplace", f"expected finite numbers, 0 or more, got {laplace!r}.")
    return np.array(np.broadcast_to(values, classes))


def smoothed_shares(tree: Any, laplace: NDArray[np.float64], known: Any = None) -> Any:
    """Return the smoothed class shares of each node (4.2); `known` are the tree's own classes."""
    shares, size = tree.value[:, 0, :], tree.weighted_n_node_samples[:, np.newaxis]
    if known is not None and len(known) < len(laplace):
        all_shares = np.zeros((len(shares), len(laplace)))
        all_shares[:, known] = shares
        shares = all_shares
    if not laplace.any():
        return shares  # counts would add rounding errors
    return (shares * size + laplace) / (size + laplace.sum())


def _grown(options: dict[str, Any], features: Any, codes: Any, bag: Bag, seed: int) -> Any:
    sample = bag.sample(seed)
    tree = DecisionTreeClassifier(**options | {"random_state": seed})
    return tree.fit(features[sample], codes[sample])


def _told(tree: Any, features: Any, laplace: NDArray[np.float64]) -> Any:
    return smoothed_shares(tree.tree_, laplace, tree.classes_)[tree.apply(features)]


def _one_column(estimator: Any, y: Any) -> Any:
    if y is None:
        raise InputError(
            "",
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None.",
        )
    return column_or_1d(y, warn=True)
