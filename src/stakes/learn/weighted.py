"""Classifier trained with class weights that represent the costs (thesis, Table 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if

from stakes._core import validate
from stakes._core.labels import Label, listing
from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.learn._base import (
    SEEDS,
    MetaLearner,
    rows_of,
    seeded,
    several_classes,
    weight_parameter,
)
from stakes.learn.weights import (
    FORMULAS,
    TRIED,
    Trial,
    WeightSearch,
    by_label,
    eval_count,
    formula_weights,
    given_weights,
    held_out,
    learnable,
    powell,
    usable_weights,
)

PASSING = ("auto", "sample_weight", "resample", "oversample", "undersample")

MOST_REPEATED = 20
"""Largest factor by which oversampling may multiply the number of rows."""


@dataclass(frozen=True)
class WeightedFit:
    """Training of a learner with weights of classes and of rows."""

    estimator: Any
    passing: str
    parameter: str | None
    fit_params: Mapping[str, Any]
    seed: int

    @classmethod
    def of(
        cls, estimator: Any, passing: str, fit_params: Mapping[str, Any], seed: int
    ) -> WeightedFit:
        """Return the training of a learner, with the way in which it gets the weights."""
        validate.choice(passing, "passing", PASSING)
        parameter = weight_parameter(estimator)
        if passing == "auto":
            passing = "resample" if parameter is None else "sample_weight"
        if passing == "sample_weight" and parameter is None:
            raise InputTypeError(
                "passing",
                f"the fit of {type(estimator).__name__} takes no sample_weight=.",
                "Use passing='resample', or request sample_weight= from the step that takes it.",
            )
        if parameter in fit_params:
            raise InputError(
                str(parameter),
                "the learner gets its weights by this argument.",
                "Pass weights of your own as sample_weight=, and both will be multiplied.",
            )
        return cls(estimator, passing, parameter, fit_params, seed)

    def __call__(
        self, X: Any, y: NDArray[Any], codes: NDArray[Any], rows: Floats, classes: Floats
    ) -> Any:
        """Train on all rows, given the weight of each row and of each class."""
        learner = clone(self.estimator)
        if self.passing == "sample_weight" and self.parameter is not None:
            weight = (classes / classes.max())[codes] * rows
            weight *= rows.sum() / weight.sum()
            return learner.fit(X, y, **{**self.fit_params, self.parameter: weight})
        copies = expected_copies(self.passing, codes, rows, classes)
        # All fits of a search have the same seed, so that they differ only by the weights.
        index = drawn_rows(copies, codes, np.random.default_rng(self.seed))
        params = params_of(self.fit_params, index, len(y))
        return learner.fit(rows_of(X, index), y[index], **params)

    def on(self, index: NDArray[Any], n: int) -> WeightedFit:
        """Return the training on some of the n rows."""
        params = params_of(self.fit_params, index, n)
        return WeightedFit(self.estimator, self.passing, self.parameter, params, self.seed)


def params_of(fit_params: Mapping[str, Any], index: NDArray[Any], n: int) -> dict[str, Any]:
    """Return the arguments of fit for some of the n rows; those with n entries are subset."""
    return {
        name: rows_of(value, index) if _has_rows(value, n) else value
        for name, value in fit_params.items()
    }


def _has_rows(value: Any, n: int) -> bool:
    if isinstance(value, str | bytes | Mapping):
        return False
    shape = getattr(value, "shape", None)  # sparse matrices have no len
    length = shape[0] if shape else len(value) if hasattr(value, "__len__") else None
    return length == n


def expected_copies(passing: str, codes: NDArray[Any], rows: Floats, classes: Floats) -> Floats:
    """Return the expected number of copies of each row.

    "oversample" keeps the class of least weight as it is, unless there would be too many rows;
    "undersample" keeps the class of most weight, and "resample" the number of rows.
    """
    per_class = classes / (classes.min() if passing == "oversample" else classes.max())
    copies = per_class[codes] * (rows / rows.mean())
    n, total = len(copies), copies.sum()
    if passing == "resample":
        copies *= n / total
    elif total > MOST_REPEATED * n:
        copies *= MOST_REPEATED * n / total
    return np.asarray(copies)


def drawn_rows(copies: Floats, codes: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw rows so that each occurs ``copies`` times on average, and each class at least once.

    Systematic sampling in random order within classes: a row occurs as often as its number of
    copies, rounded down or up, and so do the rows of a class together.
    """
    codes = codes.astype(np.min_scalar_type(codes.max()))  # NumPy sorts small integers fastest
    order = rng.permutation(len(copies))
    order = order[np.argsort(codes[order], kind="stable")]
    ends = np.cumsum(copies[order])
    reached = np.maximum(np.ceil(ends - rng.random()), 0)
    times = np.empty(len(copies), dtype=np.intp)
    times[order] = np.diff(reached, prepend=0)
    per_class = np.bincount(codes, times)
    for missing in np.flatnonzero((per_class == 0) & (np.bincount(codes) > 0)):
        candidates = order[codes[order] == missing]
        times[candidates[np.argmax(copies[candidates] > 0)]] = 1
    return np.repeat(np.arange(len(copies)), times)


def _has(method: str) -> Callable[[Any], bool]:
    def check(learner: Any) -> bool:
        getattr(getattr(learner, "estimator_", learner.estimator), method)
        return True

    return check


class WeightedClassifier(MetaLearner):
    r"""Classifier trained with class weights that make it cost-sensitive.

    Any learner that depends on class frequencies can be made cost-sensitive: rows of classes
    whose mistakes are expensive get more weight in training (CS-DATAMANIP, Table 3.2 of the
    thesis).

    Parameters
    ----------
    estimator : classifier
        The learner to train.
    costs : CostMatrix, optional
        The costs of mistakes; by default 1 for each.
    weighting : str or mapping, default "avg_cost"
        The class weights. "avg_cost", "max_cost", "class_freq" and "cost_ratio" are the formulas
        of `class_weights`.

        "eval_count": 1 plus the cost of all mistakes about the class that the learner makes on
        held-out rows when trained without weights,
        :math:`w_j = 1 + \sum_i M(i, j) \bigl(C(i, j) - C(j, j)\bigr)` with their confusion matrix
        :math:`M` (section 3.2.2). The 1 is in the unit of the costs.

        "powell": the weights of least cost on held-out rows, searched by Powell's method
        (Table 3.4). The search starts from the better of equal and "avg_cost" weights, not at
        random as in the thesis, so it is never worse on those rows than either, and is
        reproducible.

        A mapping gives your own weights, one for each class.
    passing : {"auto", "sample_weight", "resample", "oversample", "undersample"}
        How the learner gets the weights.

        "sample_weight": as that argument of its fit. They have the same sum as without costs, so
        that the strength of regularisation stays the same.

        The others draw rows in proportion to the weights, for learners without that argument.
        "resample" draws as many as there are, "oversample" repeats rows and leaves the class of
        least weight as it is (but makes at most 20 times as many rows), "undersample" drops rows
        and leaves the class of most weight as it is. Each row occurs as often as its expected
        number of copies, rounded down or up at random; every class keeps at least one.

        "auto" passes `sample_weight` where the learner takes it, and otherwise draws with
        "resample".
    validation : float, default 0.2
        The share of the rows of each class that "eval_count" and "powell" hold out. The final
        fit is on all rows. The thesis's Powell10 and Powell20 are 0.1 and 0.2.
    max_fits : int, default 100
        Maximum number of fits of "powell" before the final one.
    random_state : int, RandomState or None
        For held-out rows, drawn rows, and the learner's own `random_state` if that is None.
    verbose : int, default 0
        1 prints every tenth fit of "powell", 2 every fit.

    Attributes
    ----------
    class_weight_ : dict
        The weight of each class.
    estimator_ : classifier
        The trained learner.
    classes_ : ndarray
        The classes.
    costs_ : CostMatrix
        The costs, with the classes in the order of `classes_`.
    search_ : WeightSearch
        For "powell": the number of `fits`, the mean `cost` on the `n_validation` held-out rows
        and the `start_cost` before.
    n_features_in_, feature_names_in_
        The number of features, and their names if they have names.

    Notes
    -----
    `predict` returns the learner's own predictions, so it never abstains. `predict_proba` returns
    probabilities learnt from weighted data, which are too high for classes of large weight. See
    `MinimumRiskClassifier` for decisions by costs that leave the probabilities unchanged.

    Weights have no effect on learners that do not depend on class frequencies, such as one that
    always makes the same prediction.

    References
    ----------
    Margineantu (2001), Tables 3.2 and 3.4, sections 3.2.1 to 3.2.3.

    Powell (1964).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from stakes import CostMatrix, evaluate
    >>> from stakes.learn import WeightedClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [800, 200])
    >>> X = rng.normal(y, 1)[:, np.newaxis]
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    >>> blind = LogisticRegression().fit(X, y)
    >>> aware = WeightedClassifier(LogisticRegression(), costs).fit(X, y)
    >>> aware.class_weight_
    {0: 1.0, 1: 20.0}
    >>> X = rng.normal(y, 1)[:, np.newaxis]
    >>> for classifier in (blind, aware):
    ...     print(evaluate(y, classifier.predict(X), costs).cost)
    3.286
    0.739
    """

    class_weight_: dict[Label, float]
    search_: WeightSearch

    def __init__(
        self,
        estimator: Any,
        costs: CostMatrix | None = None,
        *,
        weighting: str | Mapping[Label, float] = "avg_cost",
        passing: str = "auto",
        validation: float = 0.2,
        max_fits: int = 100,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.weighting = weighting
        self.passing = passing
        self.validation = validation
        self.max_fits = max_fits
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any
    ) -> WeightedClassifier:
        """Compute the class weights and train the learner.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features, in any form that the learner can read.
        y : array_like
            The classes.
        sample_weight : array_like, optional
            The weight of each row; multiplied by the weight of its class.
        **fit_params
            Further arguments of the learner's fit. Those with an entry for each row are subset to
            the rows of each fit.

        Returns
        -------
        WeightedClassifier
            Itself.
        """
        self._check_options()
        actual = self._start(X, y)
        several_classes(self.classes_)
        codes = np.searchsorted(self.classes_, actual)
        rows = np.ones(len(actual))
        if sample_weight is not None:
            rows = validate.weights(sample_weight, len(actual), of="y")
        random = check_random_state(self.random_state)
        seed = random.randint(SEEDS)
        learner = seeded(self.estimator, seed, keep=True)
        params = self._params_of_learner(fit_params)
        train = WeightedFit.of(learner, self.passing, params, seed)
        if hasattr(self, "search_"):  # of an earlier fit
            del self.search_
        if isinstance(self.weighting, str) and self.weighting in TRIED:
            weights = self._tried_weights(train, X, actual, codes, rows, random=random)
        else:
            weights = self._formula(codes, rows)
        self.class_weight_ = by_label(self.costs_.labels, weights)
        self.estimator_ = train(X, actual, codes, rows, weights)
        return self

    def _check_options(self) -> None:
        if not isinstance(self.weighting, Mapping):
            validate.choice(self.weighting, "weighting", (*FORMULAS, *TRIED))
        share = validate.one_number(self.validation, "validation")
        if not 0 < share < 1:
            raise InputError("validation", f"expected a share between 0 and 1, got {share:g}.")
        validate.as_size(self.max_fits, "max_fits", least=1)

    def _params_of_learner(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        if not get_config()["enable_metadata_routing"]:
            return fit_params
        return dict(process_routing(self, "fit", **fit_params).estimator.fit)

    def _formula(self, codes: NDArray[Any], rows: Floats) -> Floats:
        if isinstance(self.weighting, Mapping):
            return given_weights(self.weighting, self.costs_.labels)
        totals = np.ones(len(self.classes_))  # only "class_freq" needs them
        if self.weighting == "class_freq":
            totals = np.bincount(codes, rows).astype(np.float64)
        return formula_weights(self.weighting, learnable(self.costs_, self.costs), totals)

    def _tried_weights(
        self,
        train: WeightedFit,
        X: Any,
        actual: NDArray[Any],
        codes: NDArray[Any],
        rows: Floats,
        *,
        random: np.random.RandomState,
    ) -> Floats:
        out = held_out(codes, rows, self.validation, random)
        inside, outside = np.flatnonzero(~out), np.flatnonzero(out)
        X_inside, X_outside = rows_of(X, inside), rows_of(X, outside)
        part = train.on(inside, len(actual))

        def predict(weights: Floats) -> NDArray[Any]:
            learner = part(X_inside, actual[inside], codes[inside], rows[inside], weights)
            return np.asarray(np.searchsorted(self.classes_, learner.predict(X_outside)))

        trial = Trial(predict, codes[outside], rows[outside], self._prediction_costs())
        if self.weighting == "eval_count":
            why = "it is 1 plus the cost of its mistakes, of which some pay"
            return usable_weights("eval_count", self.costs_.labels, eval_count(trial), why)
        starts = [np.ones(len(self.classes_))]
        try:
            usable = learnable(self.costs_, self.costs)
            starts.append(formula_weights("avg_cost", usable, starts[0]))
        except InputError:  # some class's mistakes cost nothing, so only equal weights are left
            pass
        weights, self.search_ = powell(trial, starts, max_fits=self.max_fits, verbose=self.verbose)
        return weights

    def _prediction_costs(self) -> Floats:
        labels, decisions = self.costs_.labels, self.costs_.decisions
        missing = [label for label in labels if label not in decisions]
        if missing:
            raise LabelError(
                "costs",
                f"weighting={self.weighting!r} needs the cost of predicting each class, but "
                f"{missing[0]!r} is no decision; there are {listing(decisions)}.",
                "Use weighting='avg_cost'.",
            )
        return self.costs_.values_for(labels, labels)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class of each row.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features.

        Returns
        -------
        ndarray, shape (n,)
        """
        return np.asarray(self._fitted(X).predict(X))

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the learner's class probabilities.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features.

        Returns
        -------
        ndarray, shape (n, classes)
        """
        return self._fitted(X).predict_proba(X)

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the class probabilities.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features.

        Returns
        -------
        ndarray, shape (n, classes)
        """
        return self._fitted(X).predict_log_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the learner's scores.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame
            The features.

        Returns
        -------
        ndarray
        """
        return self._fitted(X).decision_function(X)

    def _fitted(self, X: Any) -> Any:
        self._ready_for(X)
        return self.estimator_

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of fit; sample_weight is for this estimator itself.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        return (
            MetadataRouter(owner=type(self).__name__)
            .add_self_request(self)
            .add(
                estimator=self.estimator,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )
