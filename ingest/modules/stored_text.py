"""What is stored of texts that may be endless: constants and encoded kernels.

A digest of the whole distinguishes each from all others.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from hlodb.ingest.records import Attributes

_KEPT_LITERAL = 256
_KEPT_STRING = 1024
_HEAD = 64

# A string, or a word that is not quoted. What isn't closed reaches to the end.
_STRING = re.compile(r'"((?>(?:[^"\\]++|\\.)*))("|\\?\Z)|[\w+/=-]++', re.DOTALL)


def stored_literal(literal: str | None) -> str | None:
    """Return a constant's text, long ones cut and closed with a digest of the whole."""
    if literal is None or len(literal) <= _KEPT_LITERAL:
        return literal
    return _cut(literal)


def stored_attributes(attributes: Attributes) -> Attributes:
    """Return attributes whose long strings are cut and end with a digest of the whole.

    Such are the kernels in backend configurations, which stay JSON where they were.
    """
    config, other = attributes.backend_config, attributes.other
    is_short = config is None or len(config) <= _KEPT_STRING
    if is_short and (other is None or len(other) <= _KEPT_STRING):
        return attributes
    return attributes._replace(
        backend_config=config and _STRING.sub(_cut_string, config),
        other=other and _STRING.sub(_cut_string, other),
    )


def _cut_string(string: re.Match[str]) -> str:
    whole, inside, end = string.group(0, 1, 2)
    if len(whole if inside is None else inside) <= _KEPT_STRING:
        return whole
    return _cut(whole) if inside is None else f'"{_cut(inside)}{end}'


def _cut(text: str) -> str:
    digest = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16)
    # An escape that is cut in two would end the string elsewhere.
    head = text[:_HEAD].partition("\\")[0]
    return f"{head}… ({len(text)} characters, {digest.hexdigest()})"
