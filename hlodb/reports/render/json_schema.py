"""The published schema of report.json, made from the classes of a report.

`python -m hlodb.reports.render.json_schema` writes it; a test fails when it is stale.
"""

from __future__ import annotations

import json
import types
from dataclasses import fields, is_dataclass
from importlib.resources import files
from typing import Any, get_args, get_origin, get_type_hints

from hlodb.reports.judge import report as model

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FILE_NAME = "report.schema.json"

_PLAIN: dict[type, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a report."""
    definitions: dict[str, Any] = {}
    root = _reference(model.Report, definitions)
    return {
        "$schema": DIALECT,
        "title": f"hlodb report {model.REPORT_SCHEMA}",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def schema_text() -> str:
    """Return the schema as the file holds it."""
    return json.dumps(json_schema(), indent=1) + "\n"


def _reference(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}
        hints = get_type_hints(kind)
        names = [field.name for field in fields(kind) if field.repr]
        definitions[kind.__name__] = {
            "description": " ".join((kind.__doc__ or "").split()),
            "type": "object",
            "properties": {n: _of_type(hints[n], definitions) for n in names},
            "required": names,
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _of_type(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if isinstance(hint, type) and is_dataclass(hint):
        return _reference(hint, definitions)
    if hint in _PLAIN:
        return _PLAIN[hint]
    arguments = get_args(hint)
    if isinstance(hint, types.UnionType):
        return {"anyOf": [_of_type(a, definitions) for a in arguments]}
    if get_origin(hint) is list:
        return {"type": "array", "items": _of_type(arguments[0], definitions)}
    if get_origin(hint) is dict:
        values = _of_type(arguments[1], definitions)
        return {"type": "object", "additionalProperties": values}
    raise TypeError(f"{hint} has no JSON schema")


if __name__ == "__main__":
    path = files("hlodb.reports") / FILE_NAME
    with open(str(path), "w", encoding="utf-8") as stream:
        stream.write(schema_text())
