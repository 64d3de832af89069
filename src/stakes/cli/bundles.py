"""Commands and their options: those that belong together are one parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from types import ModuleType
from typing import Any, get_type_hints

import typer


def add(app: typer.Typer, module: ModuleType, name: str | None = None) -> None:
    """Add the command that a module defines under its own name, with the module's examples."""
    function = getattr(module, name or module.__name__.rpartition(".")[2])
    examples = module.EXAMPLES if name is None else module.EXAMPLES[name]
    lines = "\n".join(f"  {each}" for each in examples)
    # \b keeps typer from filling the lines.
    app.command(epilog=f"\b\nExamples:\n{lines}")(expanded(function))


def expanded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the fields of a dataclass as options, for each parameter that is one.

    What the command says is shown when it is done.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    bundles: dict[str, Any] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            bundles[name] = hints[name]
            parameters += _options(hints[name])
        else:
            parameters.append(
                parameter.replace(annotation=hints[name], kind=parameter.KEYWORD_ONLY)
            )

    def run(**given: Any) -> Any:
        for name, bundle in bundles.items():
            given[name] = bundle(**{each.name: given.pop(each.name) for each in fields(bundle)})
        result = command(**given)
        given["context"].obj.finish()
        return result

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _options(bundle: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=hints[each.name],
        )
        for each in fields(bundle)
    ]
