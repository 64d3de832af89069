"""Which model to use, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stakes._core.text import amount, listed, number, percent
from stakes.findings._encode import Finding
from stakes.findings.data import Settings, population_of, sampling_of
from stakes.findings.models import Model
from stakes.study import Study


@dataclass(frozen=True, eq=False)
class Verdict(Finding):
    """Which model to use.

    Attributes
    ----------
    text : str
        The verdict in a sentence or two.
    best_set : tuple of str
        The models that no other was shown to beat, the cheapest first.
    tie : bool
        Whether there are several of them.
    population : str
        The population that the costs are for; empty for that of the examples.
    money : str
        What the first of the best costs; empty where `text` has said it.
    caution : tuple of str
        Why the confidence is not claimed, where it is not, and what speaks against a model although
        it was not beaten.
    """

    text: str
    best_set: tuple[str, ...]
    tie: bool
    population: str
    money: str
    caution: tuple[str, ...]


def verdict_of(study: Study, settings: Settings, models: Sequence[Model]) -> Verdict:
    """Return the models that no other was shown to beat, and what to say about them."""
    alone = len(models) == 1
    sampling = sampling_of(study)
    unsure = [] if sampling is None or not sampling.caution else [sampling.caution]
    names = study.names if alone else study.ranking().best_set(study.confidence)
    best = [model for model in models if model.name in names]
    return Verdict(
        text=_headline(study, settings, models, best),
        best_set=tuple(model.name for model in best),
        tie=len(best) > 1,
        population=population_of(study),
        money=_money(settings, best[0], alone=alone),
        caution=(*unsure, *_caution(models, best)),
    )


def _headline(
    study: Study, settings: Settings, models: Sequence[Model], best: Sequence[Model]
) -> str:
    """Say which model to use; the page's script says the same at other costs."""
    sure = f"{percent(study.confidence)} confidence"
    unit = f" {settings.unit}" if settings.unit else ""
    first = best[0]
    name, worthwhile = first.name, first.cost <= first.trivial_cost
    if len(models) == 1:
        text = (
            f"{name} costs {number(first.cost)}{unit} a decision, with {sure} between "
            f"{number(first.low)} and {number(first.high)}."
        )
    elif len(best) == 1:
        use = f"Use {name}: it" if worthwhile else name
        text = f"{use} is the cheapest of {len(models)}, with {sure}."
    else:
        same = all(model.cost == first.cost for model in best)
        tied = listed([model.name for model in best])
        text = (
            f"A tie between {tied}: {number(study.n)} examples do not tell which is cheaper with "
            f"{sure}. "
            f"{'They cost the same' if same else f'{name} was the cheapest'} so far."
        )
    if worthwhile:
        return text
    return (
        f"{text} Deciding {first.best_trivial!r} every time costs less, "
        f"{number(first.trivial_cost)}{unit} a decision."
    )


def _money(settings: Settings, model: Model, *, alone: bool) -> str:
    """Say what the first of the best costs; nothing that the headline on an only model has said."""
    unit = f" {settings.unit}" if settings.unit else ""
    text = (
        f"{model.name} costs {number(model.cost)}{unit} a decision "
        f"({number(model.low)} to {number(model.high)})"
    )
    over = model.over_volume
    if over is None:
        return "" if alone else f"{text}."
    return (
        f"{text}; over {number(settings.volume or 0)} decisions a {settings.per} that is "
        f"{amount(over.cost)}{unit} ({amount(over.low)} to {amount(over.high)})."
    )


def _caution(models: Sequence[Model], best: Sequence[Model]) -> list[str]:
    """Return what speaks against a model although it was not beaten."""
    cautions = [
        f"{model.name} costs {_against(model)} deciding {model.best_trivial!r} every time."
        for model in models
        if not model.cheaper_than_trivial
        and not (model is best[0] and model.cost > model.trivial_cost)  # in the headline
    ]
    names = {model.name for model in best}
    rates = [(model.error_rate, model.name) for model in models if model.error_rate is not None]
    accurate = min(rates, key=lambda each: each[0], default=None)
    if accurate is not None and accurate[1] not in names:
        cautions.append(
            f"{accurate[1]} makes the fewest mistakes, and is not the cheapest: its mistakes "
            "are the dearer ones."
        )
    return cautions


def _against(model: Model) -> str:
    return "more than" if model.cost > model.trivial_cost else "as much as"
