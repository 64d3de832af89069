"""Which model to use, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes._table import number
from stakes.infer.interval import percent
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
    text = _headline(study, models, best)
    return {
        "text": text,
        "best_set": [model["name"] for model in best],
        "tie": len(best) > 1,
        "money": _money(settings, best[0]),
        "caution": _caution(models, best),
    }


def _headline(study: Study, models: list[dict[str, Any]], best: list[dict[str, Any]]) -> str:
    sure = f"{percent(study.confidence)} confidence"
    if len(models) == 1:
        model = models[0]
        return (
            f"{model['name']} costs {number(model['cost'])} a decision, with {sure} between "
            f"{number(model['low'])} and {number(model['high'])}."
        )
    if len(best) == 1:
        return f"Use {best[0]['name']}: it is the cheapest of {len(models)}, with {sure}."
    *others, last = (model["name"] for model in best)
    names = f"{', '.join(others)} and {last}"
    return (
        f"A tie between {names}: {number(study.n)} examples do not tell which is cheaper "
        f"with {sure}. {best[0]['name']} was the cheapest so far."
    )


def _money(settings: Settings, model: dict[str, Any]) -> str:
    unit = f" {settings.currency}" if settings.currency else ""
    text = (
        f"{model['name']} costs {number(model['cost'])}{unit} a decision "
        f"({number(model['low'])} to {number(model['high'])})"
    )
    over = model["over_volume"]
    if over is None:
        return f"{text}."
    return (
        f"{text}; over {number(settings.volume or 0)} decisions a {settings.per} that is "
        f"{_rounded(over['cost'])}{unit} ({_rounded(over['low'])} to {_rounded(over['high'])})."
    )


def _rounded(value: float) -> str:
    """Write four significant digits: a sum over many decisions is no better known than one."""
    return number(float(f"{value:.4g}"))


def _caution(models: list[dict[str, Any]], best: list[dict[str, Any]]) -> list[str]:
    """Return what speaks against a model although it was not beaten."""
    said = [
        f"{model['name']} costs more than deciding {model['best_trivial']!r} every time."
        for model in models
        if not model["cheaper_than_trivial"]
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
