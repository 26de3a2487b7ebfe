"""Endless texts are cut, and still distinguished from one another."""

import json
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.modules.stored_text import stored_attributes, stored_literal
from hlodb.ingest.records import NO_ATTRIBUTES, Attributes

BODY = "TUzvUg" * 1000


def cut(text: str) -> str:
    digest = blake2b(text.encode(), digest_size=16).hexdigest()
    return f"{text[:64]}… ({len(text)} characters, {digest})"


@given(st.text(max_size=300))
def test_a_short_literal_is_kept(text: str) -> None:
    short = text[:256]
    assert stored_literal(short) == short
    assert stored_literal(None) is None


def test_a_long_literal_is_cut_and_keeps_a_digest_of_the_whole() -> None:
    text = "{" + "1, " * 100 + "}"
    assert stored_literal(text) == cut(text)
    assert stored_literal(text) != stored_literal(text.replace("1, }", "2, }"))


def test_a_kernel_is_cut_and_what_stands_around_it_is_kept() -> None:
    config = {"custom_call_config": {"body": BODY, "flops": "12"}, "aliasing": [1, 2]}
    stored = stored_attributes(Attributes("f", backend_config=json.dumps(config)))
    config["custom_call_config"] = {"body": cut(BODY), "flops": "12"}
    assert json.loads(stored.backend_config or "") == config
    assert stored._replace(backend_config=None) == Attributes("f")


def test_a_kernel_without_quotes_is_cut() -> None:
    assert stored_attributes(Attributes(backend_config=BODY)).backend_config == cut(
        BODY
    )


def test_a_long_attribute_is_cut() -> None:
    other = f'frontend_attributes={{kernel_metadata="{BODY}"}}, direction=LT'
    assert stored_attributes(Attributes(other=other)).other == other.replace(
        BODY, cut(BODY)
    )


def test_an_escape_is_not_cut_in_two() -> None:
    config = json.dumps({"ir": "module {\n" + '"' * 2000})
    [ir] = json.loads(
        stored_attributes(Attributes(backend_config=config)).backend_config or ""
    ).values()
    assert ir.startswith("module {… (4010 characters, ")


def test_many_short_strings_are_kept() -> None:
    config = json.dumps({str(n): "x" * (n % 1025) for n in range(2000)})
    kept = Attributes(backend_config=config)
    assert stored_attributes(kept) == kept
    assert stored_attributes(NO_ATTRIBUTES) is NO_ATTRIBUTES


@pytest.mark.slow
@given(st.recursive(st.text(max_size=1500), lambda t: st.dictionaries(st.text(), t)))
def test_json_stays_json(value: object) -> None:
    config = json.dumps(value)
    stored = stored_attributes(Attributes(backend_config=config)).backend_config
    json.loads(stored or "")
