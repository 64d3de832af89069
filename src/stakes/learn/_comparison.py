"""Cost difference between two learning algorithms: training on the splits, and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtr, stdtrit
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed

from stakes._core import validate
from stakes._core.labels import label_codes, listing, plain
from stakes._core.text import compared_costs, html_values, number, p_value, percent
from stakes._core.typing import Floats
from stakes._core.values import Result, readonly_copy
from stakes.costs import CostMatrix
from stakes.counts import PairedConfusion
from stakes.counts.joint import JointConfusion
from stakes.errors import InputError, InputTypeError
from stakes.infer._inference import Interval
from stakes.infer._outcomes import cost_differences
from stakes.infer.difference import CostDifference
from stakes.learn._base import SEEDS, rows_of, seeded
from stakes.learn.weighted import params_of

# Training on the splits.

Split = tuple[NDArray[np.intp], NDArray[np.intp]]
FOLDS = REPEATS = 5


@dataclass(frozen=True)
class Data:
    """Examples: features, classes, and further arguments of fit and predict."""

    X: Any
    y: NDArray[Any]
    params: Mapping[str, Any]


def named_learners(estimators: Any) -> dict[str, Any]:
    """Check the learners and return them by name."""
    given = estimators.items() if isinstance(estimators, Mapping) else estimators
    pairs = _as_pairs(given)
    names = [name for name, _ in pairs]
    if len(pairs) < 2:  # noqa: PLR2004 - nothing to compare
        raise InputError(
            "estimators",
            f"expected at least two learners to compare, got {len(pairs)}.",
            "To see what one costs, use cross_validate with scoring=cost_scorer(costs).",
        )
    for name, learner in pairs:
        if not isinstance(name, str):
            raise InputTypeError("estimators", f"expected text as names, got {name!r}.")
        if names.count(name) > 1:
            raise InputError("estimators", f"the name {name!r} occurs twice.", "Give each its own.")
        if isinstance(learner, type) or not all(hasattr(learner, do) for do in ("fit", "predict")):
            got = f"the class {learner.__name__}" if isinstance(learner, type) else repr(learner)
            raise InputTypeError(
                f"estimators[{name!r}]",
                f"expected a scikit-learn classifier, such as DecisionTreeClassifier(); got {got}.",
            )
    return dict(pairs)


def _as_pairs(estimators: Any) -> list[tuple[Any, Any]]:
    pairs = list(estimators) if isinstance(estimators, Iterable) else [estimators]
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:  # noqa: PLR2004 - a pair
            raise InputTypeError(
                "estimators",
                "expected a mapping from names to learners, or a list of (name, learner) pairs; "
                f"got {pair!r} there.",
            )
    return [(name, learner) for name, learner in pairs]


def splits_of(cv: Any, data: Data, groups: Any, random_state: Any) -> list[Split]:
    """Return the training and test rows of each split; raise if a split cannot be learnt from."""
    try:
        random = check_random_state(random_state)
    except ValueError as error:
        raise InputError("random_state", f"{error}.") from error
    try:
        if cv is None:
            splits = _repeated(FOLDS, REPEATS, data, groups, random)
        elif isinstance(cv, str):
            validate.choice(cv, "cv", ("5x2",))
            splits = _repeated(2, 5, data, groups, random)
        elif isinstance(cv, int | np.integer) and not isinstance(cv, bool):
            splits = _repeated(int(cv), 1, data, groups, random)
        else:
            splitter = check_cv(cv, data.y, classifier=True)
            splits = list(splitter.split(data.X, data.y, groups))
            if any(np.ndim(rows) != 1 for split in splits for rows in split):
                raise ValueError("expected row numbers.")  # noqa: TRY301 - explained below
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(
            "cv",
            f"the examples cannot be split by {cv!r}: {error}",
            "Give None, '5x2', a number of folds, a splitter of scikit-learn, or a list of "
            "(train, test) row numbers.",
        ) from error
    if len(splits) < 2:  # noqa: PLR2004 - no variance
        raise InputError(
            "cv",
            f"expected at least two splits, got {len(splits)}: how much learners vary with their "
            "training data cannot be seen in one.",
            "For two trained classifiers, use compare.",
        )
    for place, (train, test) in enumerate(splits, 1):
        _check_split(data.y[train], data.y[test], f"split {place} of {len(splits)}")
    return splits


def _repeated(folds: int, repeats: int, data: Data, groups: Any, random: Any) -> list[Split]:
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    splits = []
    for _ in range(repeats):
        splitter = kind(folds, shuffle=True, random_state=random.randint(SEEDS))
        splits += list(splitter.split(data.X, data.y, groups))
    return splits


def _check_split(train: NDArray[Any], test: NDArray[Any], which: str) -> None:
    if not len(test):
        raise InputError("cv", f"{which} has no test examples.")
    met = np.unique(train)
    if len(met) < 2:  # noqa: PLR2004 - nothing to tell apart
        classes = f"one class only, {plain(met[0])!r}" if len(met) else "no class"
        raise InputError(
            "cv",
            f"the training part of {which} has {classes}: nothing can be learnt from it.",
            "Use stratified or fewer splits, or leave out groups that hold a class alone.",
        )


def routed_params(learners: Mapping[str, Any], params: Any) -> dict[str, dict[str, list[str]]]:
    """Return which of the parameters go to fit and to predict of each learner.

    Without metadata routing all go to every fit, as in scikit-learn.
    """
    if not isinstance(params, Mapping):
        raise InputTypeError(
            "params",
            "expected a mapping such as {'sample_weight': weights}, got "
            f"{type(params).__name__}.",
        )
    if not get_config()["enable_metadata_routing"]:
        return {name: {"fit": list(params), "predict": []} for name in learners}
    routed = {
        name: {
            method: sorted(get_routing_for_object(learner).consumes(method, list(params)))
            for method in ("fit", "predict")
        }
        for name, learner in learners.items()
    }
    asked = {key for each in routed.values() for keys in each.values() for key in keys}
    if unasked := [key for key in params if key not in asked]:
        raise InputError(
            "params",
            f"no learner asks for {listing(unasked)}.",
            f"Ask with, for example, learner.set_fit_request({unasked[0]}=True).",
        )
    return routed


def joint_decisions(
    learners: Mapping[str, Any],
    data: Data,
    splits: Sequence[Split],
    costs: CostMatrix,
    *,
    n_jobs: int | None,
    random_state: Any,
) -> list[JointConfusion]:
    """Train each learner on each split, and count their joint decisions on the test part.

    Seeds are drawn before the work is distributed, so the result does not depend on `n_jobs`.
    """
    routed = routed_params(learners, data.params)
    random = None if random_state is None else check_random_state(random_state)
    seeds = [None if random is None else random.randint(SEEDS) for _ in splits]
    codes = Parallel(n_jobs=n_jobs)(
        delayed(_decided)(
            learner,
            data,
            split,
            costs,
            seed=seed,
            routed=routed[name],
            where=f"estimators[{name!r}], split {number} of {len(splits)}",
        )
        for number, (split, seed) in enumerate(zip(splits, seeds, strict=True), 1)
        for name, learner in learners.items()
    )
    actual = label_codes(data.y, "y", costs.labels, "classes of the costs")
    by_split = [
        codes[start : start + len(learners)] for start in range(0, len(codes), len(learners))
    ]
    return [
        JointConfusion.from_codes(
            actual[test],
            dict(zip(learners, decided, strict=True)),
            labels=costs.labels,
            decisions=costs.decisions,
        )
        for (_, test), decided in zip(splits, by_split, strict=True)
    ]


def _decided(
    learner: Any,
    data: Data,
    split: Split,
    costs: CostMatrix,
    *,
    seed: int | None,
    routed: Mapping[str, Sequence[str]],
    where: str,
) -> NDArray[np.intp]:
    """Train a fresh learner on a split; return its decisions on the test part, as positions."""
    train, test = split
    size = len(data.y)
    try:
        fresh = clone(learner) if seed is None else seeded(learner, seed, keep=True)
        options = params_of({key: data.params[key] for key in routed["fit"]}, train, size)
        fresh.fit(rows_of(data.X, train), data.y[train], **options)
        options = params_of({key: data.params[key] for key in routed["predict"]}, test, size)
        y_pred = fresh.predict(rows_of(data.X, test), **options)
    except Exception as error:
        raise InputError(
            where,
            f"the learner failed with {type(error).__name__}: {error}",
            "Try it alone with fit on the training rows of that split, or leave it out.",
        ) from error
    codes = label_codes(y_pred, where, costs.decisions, "decisions of the costs")
    if len(codes) != len(test):
        raise InputError(
            where, f"expected a decision for each of {len(test)} test rows, got {len(codes)}."
        )
    return codes


# Tests of the differences over the splits.

REPETITIONS, HALVES = 5, 2


@dataclass(frozen=True)
class StudentTest:
    """A t test and its confidence interval.

    Attributes
    ----------
    centre, error : float
        The middle of the interval and its standard error.
    freedom : int
        The degrees of freedom.
    """

    centre: float
    error: float
    freedom: int

    @property
    def statistic(self) -> float:
        """The centre in standard errors; 0 if there is no difference at all."""
        return _ratio(self.centre, self.error)

    @property
    def p_value(self) -> float:
        """The two-sided p-value."""
        return min(1.0, 2 * float(stdtr(self.freedom, -abs(self.statistic))))

    def limits(self, alpha: float) -> tuple[float, float]:
        """Return the limits that exclude zero exactly when the p-value is below alpha."""
        arm = float(stdtrit(self.freedom, 1 - alpha / 2)) * self.error
        return self.centre - arm, self.centre + arm


def corrected_t(differences: Floats, test_share: float) -> StudentTest:
    """Return the corrected resampled t test (Nadeau & Bengio 2003, section 3).

    The variance of the mean of J differences is taken to be (1/J + n_test/n_train)·S² and not S²/J.

    Parameters
    ----------
    differences : ndarray, shape (J,)
        The difference in each split.
    test_share : float
        n_test/n_train, the size of a test part relative to its training part.
    """
    count = len(differences)
    variance = (1 / count + test_share) * float(differences.var(ddof=1))
    return StudentTest(float(differences.mean()), float(np.sqrt(variance)), count - 1)


def five_by_two_t(differences: Floats) -> StudentTest:
    """Return Dietterich's 5×2cv t test (1998, section 3.5).

    Its numerator is the difference in the first half of the first repetition alone; the variance
    is the average over the repetitions of that of their two halves.

    Parameters
    ----------
    differences : ndarray, shape (10,)
        The differences: both halves of the first repetition, then those of the second, …
    """
    error = float(np.sqrt(_half_variances(differences).mean()))
    return StudentTest(float(differences[0]), error, REPETITIONS)


def five_by_two_f(differences: Floats) -> tuple[float, float]:
    """Return the statistic and the p-value of Alpaydin's combined 5×2cv F test (1999).

    Parameters
    ----------
    differences : ndarray, shape (10,)
        As in `five_by_two_t`.
    """
    statistic = _ratio(float((differences**2).sum()), 2 * float(_half_variances(differences).sum()))
    return statistic, float(fdtrc(REPETITIONS * HALVES, REPETITIONS, statistic))


def _half_variances(differences: Floats) -> Floats:
    """Return the variance of the two halves of each repetition."""
    pairs = differences.reshape(REPETITIONS, HALVES)
    return np.asarray(((pairs - pairs.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))


def _ratio(value: float, error: float) -> float:
    """Return value / error; without any error, ±infinity if the value is not 0, else 0."""
    if error == 0:
        return float(np.sign(value) * np.inf) if value else 0.0
    return value / error


ROUNDING = 1e-12
"""Differences up to this share of the largest cost difference are rounding errors of 0."""


@dataclass(frozen=True, repr=False, eq=False)
class LearnerDifference(Result):
    r"""Cost difference between two learners' classifiers, over splits of the same examples.

    Made by `LearnerComparison.difference`.

    Attributes
    ----------
    names : pair of str
        The learners.
    tables : tuple of PairedConfusion
        Paired counts of the two learners' decisions on the test part of each split.
    test_share : float
        The size of a test part relative to its training part, n_test/n_train, on average.
    costs : CostMatrix
        The cost of each decision for each class.
    kind : {"corrected", "5x2cv"}
        The test of the differences.
    confidence : float
        Default confidence level of intervals and verdicts.
    unit : str
        The unit of the costs.

    Notes
    -----
    `compare_learners` describes the t tests. With the ten differences :math:`d` of 5×2cv and the
    sums :math:`s_r^2` of squares about the mean of each repetition, the combined test uses
    :math:`F = \sum d^2 \big/ \left(2 \sum_r s_r^2\right)` with 10 and 5 degrees of freedom.

    References
    ----------
    Nadeau & Bengio (2003).

    Dietterich (1998).

    Alpaydin (1999).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from stakes import CostMatrix
    >>> from stakes.learn import compare_learners
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=5)
    >>> X, y = make_classification(1000, class_sep=0.5, random_state=1)
    >>> learners = {"bayes": GaussianNB(), "nearest": KNeighborsClassifier(1)}
    >>> compared = compare_learners(learners, X, y, costs, random_state=0)
    >>> difference = compared.difference("bayes", "nearest")
    >>> round(difference.difference, 2), round(difference.p_value, 2)
    (-0.41, 0.0)
    >>> difference.wins, difference.ties, difference.losses
    (19, 6, 0)
    """

    names: tuple[str, str]
    tables: tuple[PairedConfusion, ...]
    test_share: float
    costs: CostMatrix
    kind: str = "corrected"
    confidence: float = 0.95
    unit: str = ""

    @cached_property
    def differences(self) -> NDArray[np.float64]:
        """The cost of the first minus that of the second per decision, in each split."""
        delta = cost_differences(self.costs.values)
        found = np.array([float((each.counts * delta).sum()) / each.n for each in self.tables])
        largest = float(np.abs(delta).max())
        return readonly_copy(np.where(np.abs(found) <= ROUNDING * largest, 0.0, found))

    @property
    def difference(self) -> float:
        """The mean difference; every split has the same weight."""
        return float(self.differences.mean())

    @property
    def statistic(self) -> float:
        """The t statistic."""
        return self._test().statistic

    @property
    def p_value(self) -> float:
        """The two-sided p-value of the t test; 1 if the two never differ."""
        return self._test().p_value

    @property
    def combined_p_value(self) -> float:
        """The p-value of the combined 5×2cv F test (Alpaydin 1999); only for that design."""
        if self.kind != "5x2cv":
            raise InputError(
                "test",
                "the combined F test is for five repetitions of two halves.",
                "Compare the learners with test='5x2cv'.",
            )
        return five_by_two_f(self.differences)[1]

    def interval(self, confidence: float | None = None) -> Interval:
        """Return the confidence interval of the t test.

        That of the 5×2cv test is around the difference in the first half of the first repetition,
        which is the one it tests, and not around the mean.

        Parameters
        ----------
        confidence : float, optional
            By default that of the comparison.

        Returns
        -------
        Interval
        """
        sure = self.confidence if confidence is None else confidence
        low, high = self._test().limits(validate.alpha(sure))
        return Interval(low, high, sure, f"{self.kind} t")

    def cheaper(self, confidence: float | None = None) -> str | None:
        """Return the learner that the t test shows to be cheaper, or None if it shows neither.

        Parameters
        ----------
        confidence : float, optional
            By default that of the comparison.

        Returns
        -------
        str or None
        """
        sure = self.confidence if confidence is None else confidence
        if self.p_value > validate.alpha(sure):
            return None
        return self.names[1] if self.statistic > 0 else self.names[0]

    @cached_property
    def verdicts(self) -> tuple[str, ...]:
        """The verdict of BDELTACOST on the two classifiers of each split, for the first learner.

        "win" where the first one's classifier is cheaper, "loss" where the second one's is, else
        "tie"; each split by itself, by the exact bootstrap distribution, as the thesis counts them
        (section 6.3). These are verdicts on classifiers, and those with overlapping training parts
        are not independent: no p-value follows from their number.
        """
        return tuple(map(self._verdict, self.tables))

    @property
    def wins(self) -> int:
        """The number of splits in which BDELTACOST shows the first classifier to be cheaper."""
        return self.verdicts.count("win")

    @property
    def ties(self) -> int:
        """The number of splits in which BDELTACOST shows neither classifier to be cheaper."""
        return self.verdicts.count("tie")

    @property
    def losses(self) -> int:
        """The number of splits in which BDELTACOST shows the second classifier to be cheaper."""
        return self.verdicts.count("loss")

    def summary(self, confidence: float | None = None) -> str:
        """Summarise which learner is cheaper and by how much, with the interval and p-value.

        Parameters
        ----------
        confidence : float, optional
            By default that of the comparison.

        Returns
        -------
        str
        """
        interval = self.interval(confidence)
        cheaper = self.cheaper(confidence)
        written = p_value(self.p_value)
        sure = f"p {written}" if written.startswith("<") else f"p = {written}"
        verdict = f"{cheaper} is the cheaper learner" if cheaper else "a tie"
        costs = compared_costs(self.names, self.difference, self.unit)
        return (
            f"Over {len(self.tables)} splits {costs} "
            f"({number(interval.low)} to {number(interval.high)} with "
            f"{percent(interval.confidence)} confidence): {verdict} ({sure}). "
            f"Split by split, {self.names[0]} wins {self.wins}, ties {self.ties} and loses "
            f"{self.losses}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain numbers and lists.

        Returns
        -------
        dict
        """
        result = {
            "names": list(self.names),
            "test": self.kind,
            "difference": self.difference,
            "unit": self.unit,
            "interval": self.interval().to_dict(),
            "statistic": self.statistic,
            "p_value": self.p_value,
            "differences": self.differences.tolist(),
            "verdicts": list(self.verdicts),
        }
        if self.kind == "5x2cv":
            result["combined_p_value"] = self.combined_p_value
        return result

    def _test(self) -> StudentTest:
        if self.kind == "5x2cv":
            return five_by_two_t(self.differences)
        return corrected_t(self.differences, self.test_share)

    def _verdict(self, table: PairedConfusion) -> str:
        found = CostDifference(table, self.costs, self.names)
        if not found.difference or not found.test("exact", confidence=self.confidence).rejected:
            return "tie"
        return "win" if found.difference < 0 else "loss"

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return html_values(self.to_dict(), self.summary())
