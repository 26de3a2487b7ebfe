"""Read profiles of pprof with protobuf's own parser, by the fields of profile.proto."""

from __future__ import annotations

from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

INT64, UINT64, STRING, MESSAGE = 3, 4, 9, 11
FIELDS: dict[str, list[tuple[str, int, int, str, bool]]] = {
    "ValueType": [("type", 1, INT64, "", False), ("unit", 2, INT64, "", False)],
    "Sample": [("location_id", 1, UINT64, "", True), ("value", 2, INT64, "", True)],
    "Line": [("function_id", 1, UINT64, "", False), ("line", 2, INT64, "", False)],
    "Location": [("id", 1, UINT64, "", False), ("line", 4, MESSAGE, "Line", True)],
    "Function": [
        ("id", 1, UINT64, "", False),
        ("name", 2, INT64, "", False),
        ("filename", 4, INT64, "", False),
    ],
    "Profile": [
        ("sample_type", 1, MESSAGE, "ValueType", True),
        ("sample", 2, MESSAGE, "Sample", True),
        ("location", 4, MESSAGE, "Location", True),
        ("function", 5, MESSAGE, "Function", True),
        ("string_table", 6, STRING, "", True),
        ("default_sample_type", 14, INT64, "", False),
    ],
}
"""Fields of each message: name, number, type, message, whether it is repeated."""

Frame = tuple[str, str, int]


class Profile(NamedTuple):
    """A profile; frames are function, file and line, the leaf first."""

    sample_types: list[tuple[str, str]]
    default_sample_type: str
    samples: list[tuple[list[Frame], tuple[int, ...]]]


def read_profile(data: bytes) -> Profile:
    """Return what an uncompressed profile holds; no field may be unknown."""
    profile_class = _profile_class()
    profile, known = profile_class.FromString(data), profile_class.FromString(data)
    known.DiscardUnknownFields()
    assert known == profile
    text = profile.string_table
    assert text[0] == ""
    functions = {f.id: (text[f.name], text[f.filename]) for f in profile.function}
    frames = {
        location.id: (*functions[line.function_id], line.line)
        for location in profile.location
        for line in location.line
    }
    assert 0 not in functions and 0 not in frames
    return Profile(
        [(text[kind.type], text[kind.unit]) for kind in profile.sample_type],
        text[profile.default_sample_type],
        [
            ([frames[number] for number in sample.location_id], tuple(sample.value))
            for sample in profile.sample
        ],
    )


def _profile_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="profile.proto", package="perftools.profiles", syntax="proto3"
    )
    for message, fields in FIELDS.items():
        described = file.message_type.add(name=message)
        for name, number, kind, of, is_repeated in fields:
            field = described.field.add(name=name, number=number)
            field.type = kind  # type: ignore[assignment]
            field.label = field.LABEL_REPEATED if is_repeated else field.LABEL_OPTIONAL
            if of:
                field.type_name = f".perftools.profiles.{of}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = pool.FindMessageTypeByName("perftools.profiles.Profile")
    return message_factory.GetMessageClass(found)
