"""Thresholds and costs are those of the second implementation, on random rows of every kind."""

import numpy as np
import pytest
from _helpers import oracle_policies

from stakes import CostMatrix, study_of

KINDS = ("plain", "tied", "weights", "groups", "priors", "costs of rows", "two models")
CASES = [(kind, seed) for kind in KINDS for seed in range(12)]


class Case:
    """Random rows of a kind, as the library gets them and as the oracle does."""

    def __init__(self, kind, seed):
        rng = np.random.default_rng([KINDS.index(kind), seed])
        n, self.kind = int(rng.integers(60, 400)), kind
        self.ratio = float(rng.choice([1, 3, 20]))
        self.y = (rng.random(n) < rng.choice([0.25, 0.5])).astype(int)
        steps = {"plain": 1e6, "weights": 4, "two models": 2}.get(kind, rng.choice([1, 3, 1e6]))

        def score(apart):
            return np.round((rng.standard_normal(n) + apart * self.y) * steps) / steps

        self.scores = [score(1.5), *([score(1.0)] if kind == "two models" else [])]
        self.weight = self.groups = self.prices = priors = None
        self.fp, self.fn = 1.0, self.ratio
        self.costs = CostMatrix.from_errors(false_positive=1, false_negative=self.ratio)
        if kind == "weights":
            self.weight = rng.choice([0.0, 0.25, 1.0, 10.0], n)
        elif kind == "groups":
            self.groups = rng.permutation(np.arange(n) // 2)
        elif kind == "priors":
            priors = {0: 0.9, 1: 0.1}
            self.fp, self.fn = 0.9 / (1 - self.y.mean()), self.ratio * 0.1 / self.y.mean()
        elif kind == "costs of rows":
            self.fp, self.fn = 4.0, rng.choice([2.0, 10.0, 36.0], n)
            self.costs = {"false_positive": 4.0, "false_negative": self.fn}
            self.prices = self.fn
        self.design = {
            "sample_weight": self.weight,
            "groups": self.groups,
            "class_priors": priors,
        }

    @property
    def policies(self):
        named = {f"model {at}": each for at, each in enumerate(self.scores)}
        return study_of(self.y, {}, self.costs, y_score=named, pos_label=1, **self.design).policies

    def oracle(self, at=0, folds=None):
        others = [each for k, each in enumerate(self.scores) if k != at]
        if folds is None:
            folds = oracle_policies.dealt(
                self.scores[at], self.y, self.weight, costs=self.prices, others=others,
                groups=self.groups,
            )  # fmt: skip
        return oracle_policies.cross_fitted(
            self.scores[at], self.y, self.fp, self.fn, self.weight, folds=folds
        )

    def table(self, decided):
        counts = np.zeros((2, 2))
        np.add.at(
            counts, (decided.astype(int), self.y), 1.0 if self.weight is None else self.weight
        )
        return counts


def counted(joint, policy):
    counts = np.asarray(joint.single(policy.column).counts)
    return counts.reshape(-1, 2, 2).sum(axis=0)


def scored(policies):
    return [each for each in policies.policies if each.kind == "threshold"]


def cases():
    for kind, seed in CASES:
        case = Case(kind, seed)
        if oracle_policies.enough(case.y, case.weight, case.groups):
            yield pytest.param(case, id=f"{kind} {seed}")


@pytest.mark.parametrize("case", list(cases()))
def test_the_threshold_to_deploy(case):
    policies = case.policies
    for at, policy in enumerate(scored(policies)):
        expected = case.oracle(at)
        assert ((case.scores[at] >= policy.threshold) == expected.in_sample)[
            slice(None) if case.weight is None else case.weight > 0
        ].all()
        found = counted(policies.in_sample, policy)
        assert found == pytest.approx(case.table(expected.in_sample), rel=1e-9)


@pytest.mark.parametrize("case", list(cases()))
def test_the_decisions_of_folds(case):
    """Each row is in the fold that STATISTICS §12 deals it to, and decided by the other folds."""
    policies = case.policies
    for at, policy in enumerate(scored(policies)):
        expected = case.table(case.oracle(at).held_out)
        assert counted(policies.held_out, policy) == pytest.approx(expected, rel=1e-9)


PLAIN = [each for each in cases() if each.values[0].kind in ("plain", "tied", "two models")]


@pytest.mark.parametrize("case", PLAIN)
def test_costs_limits_p_values_and_regret(case):
    policies, n = case.policies, len(case.y)
    known = {f"always {flag}": oracle_policies.constant(n, flag=bool(flag)) for flag in (0, 1)}
    for at, policy in enumerate(scored(policies)):
        known[policy.name] = case.oracle(at)
    args = (case.y, case.fp, case.fn)
    for name, each in known.items():
        if name in [one.name for one in scored(policies)]:
            assert tuple(policies.interval(name)) == pytest.approx(
                oracle_policies.cost_limits(each, *args), rel=1e-6, abs=1e-9
            )
    best, apart = policies.best, []
    for name in policies.others:
        rows = oracle_policies.differences(known[best], known[name], *args)
        kind = {"always 0": "first", "always 1": "second"}
        flips = {"first": "second", "second": "first", "": ""}
        nested = flips[kind.get(best, "")] or kind.get(name, "")
        values = oracle_policies.outcomes(case.fp, case.fn, nested=nested)
        if {best, name} == {"always 0", "always 1"}:
            values = sorted({-case.fp, case.fn} if best == "always 1" else {case.fp, -case.fn})
            values = sorted({-each for each in values})
        pair = next(each for each in policies.pairs if each.second == name)
        assert pair.difference == pytest.approx(rows[0].mean(), abs=1e-9)
        expected = oracle_policies.p_value(rows, values)
        assert pair.p_value == pytest.approx(max(expected, 1e-12), rel=1e-5, abs=2e-12)
        apart.append((values, rows))
    expected = oracle_policies.regret(apart)
    assert policies.regret == pytest.approx(expected, rel=1e-6, abs=1e-9)
