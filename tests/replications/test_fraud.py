"""Synthetic payments: their stated true probabilities are right."""

import numpy as np
import pytest

from replications.domains.fraud import fraud
from stakes import CostCurve
from stakes.errors import InputError


@pytest.fixture(scope="module")
def payments():
    return fraud(400_000, prevalence=0.01, rng=0)


def test_of_payments_with_a_probability_that_share_are_frauds(payments):
    order = np.argsort(payments.probability)
    for part in np.array_split(order, 400)[-8:]:  # with enough frauds for a comparison
        expected = payments.probability[part].mean()
        assert payments.y_true[part].mean() == pytest.approx(expected, abs=0.06)
    assert payments.probability.mean() == pytest.approx(0.01, abs=0.0006)
    assert payments.y_true.mean() == pytest.approx(0.01, abs=0.0006)


def test_the_model_is_worse_than_the_truth_and_better_than_nothing(payments):
    area = {
        name: CostCurve.from_scores(payments.y_true, scores).area()
        for name, scores in (("model", payments.y_score), ("truth", payments.probability))
    }
    assert area["truth"] < area["model"] < 0.2


def test_amounts_are_log_normal_and_frauds_larger(payments):
    logs = np.log(payments.amount)
    fraud_logs, other_logs = logs[payments.y_true == 1], logs[payments.y_true == 0]
    assert np.exp([other_logs.mean(), fraud_logs.mean()]) == pytest.approx([35, 110], rel=0.06)
    assert [other_logs.std(), fraud_logs.std()] == pytest.approx([1.2, 1.2], abs=0.04)


def test_a_missed_fraud_costs_its_amount_and_an_alarm_the_same_for_all(payments):
    costs = payments.costs(alarm=7.0)
    nothing = costs.of(np.zeros(len(payments.y_true), dtype=int))
    assert nothing.sum() == pytest.approx(payments.amount[payments.y_true == 1].sum())
    assert (costs.of(np.ones(len(payments.y_true), dtype=int)) == 7.0).all()


def test_the_same_seed_gives_the_same_payments():
    assert np.array_equal(fraud(50, rng=3).amount, fraud(50, rng=3).amount)


@pytest.mark.parametrize("prevalence", [0, 1, 1.5])
def test_a_prevalence_is_a_share(prevalence):
    with pytest.raises(InputError, match="prevalence: expected a share above 0 and below 1"):
        fraud(10, prevalence=prevalence)
