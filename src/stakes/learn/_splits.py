"""Train learners on the same splits of the same examples, and count what they decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed

from stakes._core import validate
from stakes._core.labels import label_codes, listing, plain
from stakes.costs import CostMatrix
from stakes.counts.joint import JointConfusion
from stakes.errors import InputError, InputTypeError
from stakes.learn._base import SEEDS, rows_of, seeded
from stakes.learn._resample import params_of

Split = tuple[NDArray[np.intp], NDArray[np.intp]]
FOLDS = REPEATS = 5


@dataclass(frozen=True)
class Data:
    """The examples: features, classes, and what else goes to fit and predict."""

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
            f"expected at least two learners to compare, got {len(pairs)}. To see what one costs, "
            "use cross_validate with scoring=cost_scorer(costs).",
        )
    for name, learner in pairs:
        if not isinstance(name, str):
            raise InputTypeError("estimators", f"expected text as names, got {name!r}.")
        if names.count(name) > 1:
            raise InputError("estimators", f"the name {name!r} stands twice.", "Give each its own.")
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
    """Return the training and test rows of each split, which must be fit to learn from."""
    random = check_random_state(random_state)
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
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(
            "cv",
            f"the examples cannot be split by {cv!r}: {error} Expected None, '5x2', a number of "
            "folds, a splitter of scikit-learn, or a list of (train, test) row numbers.",
        ) from error
    if len(splits) < 2:  # noqa: PLR2004 - no variance
        raise InputError(
            "cv",
            f"expected at least two splits, got {len(splits)}: how much learners vary with their "
            "training data cannot be seen in one.",
            "For two trained classifiers, use compare.",
        )
    for number, (train, test) in enumerate(splits, 1):
        _check_split(data.y[train], data.y[test], f"split {number} of {len(splits)}")
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
    """Train each learner on each split, and count what all decide on the test part.

    The seeds are drawn before the work is shared out, so the number of jobs changes nothing.
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
    """Train a fresh learner on a split; return what it decides on the test part, as positions."""
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
            f"the learner failed with {type(error).__name__}: {error} Try it alone with fit on "
            "the training rows of that split, or leave it out.",
        ) from error
    codes = label_codes(y_pred, where, costs.decisions, "decisions of the costs")
    validate.same_length({f"{where}: y_pred": len(codes), "the test part": len(test)})
    return codes
