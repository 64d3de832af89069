"""Which model to use, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes._core.text import amount, listed, number, percent
from stakes.findings.population import population_of
from stakes.study import Study

if TYPE_CHECKING:
    from stakes.findings.findings import Settings


def verdict_of(
    study: Study,
    settings: Settings,
    models: list[dict[str, Any]],
    pairs: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return the models that no other was shown to beat, and what to say about them."""
    beaten = {pair["second"] for pair in pairs if pair["rejected"]}
    best = [model for model in models if model["name"] not in beaten]
    return {
        "text": _headline(study, settings, models, best),
        "best_set": [model["name"] for model in best],
        "tie": len(best) > 1,
        "population": population_of(study),
        "money": _money(settings, best[0], alone=len(models) == 1),
        "caution": _caution(models, best),
    }


def _headline(
    study: Study, settings: Settings, models: list[dict[str, Any]], best: list[dict[str, Any]]
) -> str:
    """Say which model to use; the page's script says the same at other costs."""
    sure = f"{percent(study.confidence)} confidence"
    unit = f" {settings.currency}" if settings.currency else ""
    first = best[0]
    name, worthwhile = first["name"], first["cost"] <= first["trivial_cost"]
    if len(models) == 1:
        text = (
            f"{name} costs {number(first['cost'])}{unit} a decision, with {sure} between "
            f"{number(first['low'])} and {number(first['high'])}."
        )
    elif len(best) == 1:
        use = f"Use {name}: it" if worthwhile else name
        text = f"{use} is the cheapest of {len(models)}, with {sure}."
    else:
        same = all(model["cost"] == first["cost"] for model in best)
        tied = listed([model["name"] for model in best])
        text = (
            f"A tie between {tied}: {number(study.n)} examples do not tell which is cheaper with "
            f"{sure}. "
            f"{'They cost the same' if same else f'{name} was the cheapest'} so far."
        )
    if worthwhile:
        return text
    return (
        f"{text} Deciding {first['best_trivial']!r} every time costs less, "
        f"{number(first['trivial_cost'])}{unit} a decision."
    )


def _money(settings: Settings, model: dict[str, Any], *, alone: bool) -> str:
    """Say what the first of the best costs; nothing that the headline on an only model has said."""
    unit = f" {settings.currency}" if settings.currency else ""
    text = (
        f"{model['name']} costs {number(model['cost'])}{unit} a decision "
        f"({number(model['low'])} to {number(model['high'])})"
    )
    over = model["over_volume"]
    if over is None:
        return "" if alone else f"{text}."
    return (
        f"{text}; over {number(settings.volume or 0)} decisions a {settings.per} that is "
        f"{amount(over['cost'])}{unit} ({amount(over['low'])} to {amount(over['high'])})."
    )


def _caution(models: list[dict[str, Any]], best: list[dict[str, Any]]) -> list[str]:
    """Return what speaks against a model although it was not beaten."""
    said = [
        f"{model['name']} costs {_against(model)} deciding {model['best_trivial']!r} every time."
        for model in models
        if not model["cheaper_than_trivial"]
        and not (model is best[0] and model["cost"] > model["trivial_cost"])  # in the headline
    ]
    names = {model["name"] for model in best}
    accurate = min(
        (model for model in models if model["error_rate"] is not None),
        key=lambda model: model["error_rate"],
        default=None,
    )
    if accurate is not None and accurate["name"] not in names:
        said.append(
            f"{accurate['name']} makes the fewest mistakes, and is not the cheapest: its mistakes "
            "are the dearer ones."
        )
    return said


def _against(model: dict[str, Any]) -> str:
    return "more than" if model["cost"] > model["trivial_cost"] else "as much as"
