"""Values of JSON whose types are not known yet. Owns the step from `object` to a list."""

from __future__ import annotations

from typing import Any


def items(value: object) -> list[Any]:
    """Returns a list of JSON, an empty one where the value is none."""
    return list(value) if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
