"""Options that several commands share, declared once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, get_type_hints


def with_groups(**groups: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Options that several commands share: each parameter named here is a named tuple, whose fields are options."""

    def options_of(parameter: Parameter) -> list[Parameter]:
        group = groups.get(parameter.name)
        if group is None:
            return [parameter]
        kinds, defaults = get_type_hints(group, include_extras=True), group._field_defaults
        return [
            Parameter(name, Parameter.KEYWORD_ONLY, default=defaults[name], annotation=kinds[name])
            for name in group._fields
        ]

    def spread(function: Callable[..., None]) -> Callable[..., None]:
        own = signature(function, eval_str=True)
        options = [option for parameter in own.parameters.values() for option in options_of(parameter)]

        @wraps(function)
        def run(**given: Any) -> None:
            grouped = {name: group(*map(given.pop, group._fields)) for name, group in groups.items()}
            function(**given, **grouped)

        run.__signature__ = own.replace(parameters=options)  # type: ignore[attr-defined]
        run.__annotations__ = {option.name: option.annotation for option in options}
        return run

    return spread
