from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def parse(kind: type[T], value: object) -> T:
    """The dataclass that a JSON object holds. Fields that this version does not know are left out, those that are
    absent are None. Raises ValueError if one that is required is missing."""
    given = _a(dict, value)
    known = {
        name: _converted(hint, given[name]) for name, hint in _hints(cast(Any, kind)).items() if name in given
    }
    try:
        return kind(**known)
    except TypeError as error:
        raise ValueError(str(error)) from None


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def _converted(hint: Any, value: object) -> object:
    if value is None:
        return None
    # Of `X | None`, X.
    kind: Any = get_args(hint)[0] if type(None) in get_args(hint) else hint
    if get_origin(kind) is list:
        return [_converted(get_args(kind)[0], each) for each in _a(list, value)]
    if kind is datetime:
        return datetime.fromisoformat(_a(str, value).replace("Z", "+00:00"))
    if is_dataclass(kind):
        return parse(cast(type, kind), value)
    return value


def _a(kind: type[T], value: object) -> T:
    if isinstance(value, kind):
        return value
    raise ValueError(f"{type(value).__name__} in the place of {kind.__name__}")
