"""Files framed in standard output."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.logs.stdout_frames import Frame, Framed, split_frames

NAME = "module_0001.f.before_optimizations.txt"


def framed(name: str, text: str) -> str:
    return f"*** Begin {name} ***\n{text}*** End {name} ***\n"


def test_files_and_what_stands_between_them() -> None:
    first, second = framed(NAME, "HloModule f\n\n"), framed("b.txt", "x\n")
    text = f"hello\n{first}between\n{second}"
    assert split_frames(text) == Framed(
        [Frame(NAME, "HloModule f\n\n", 3, True), Frame("b.txt", "x\n", 8, True)],
        "hello\n\n\n\n\nbetween\n\n\n\n",
    )


def test_a_frame_that_breaks_off() -> None:
    whole = framed("b.txt", "y\n")
    text = f"*** Begin a.txt ***\nx\n{whole}*** Begin c.txt ***\nz"
    assert split_frames(text).frames == [
        Frame("a.txt", "x\n", 2, False),
        Frame("b.txt", "y\n", 4, True),
        Frame("c.txt", "z", 7, False),
    ]


def test_frames_of_others() -> None:
    text = "*** Begin stack trace ***\nf()\n*** End stack trace ***\n"
    assert split_frames(text) == Framed([], text)


def test_names_are_no_paths() -> None:
    assert split_frames(framed("../../etc/passwd", "x\n")).frames == []


def test_an_empty_file_and_windows_line_breaks() -> None:
    assert split_frames("*** Begin a ***\r\n*** End a ***\r\n").frames == [
        Frame("a", "", 2, True)
    ]


_PARTS = st.one_of(
    st.text(st.characters(codec="utf-8")),
    st.sampled_from(["*** Begin a ***\n", "*** End a ***\n", "*** Begin b ***\n"]),
)


@given(st.lists(_PARTS).map("".join))
def test_no_line_is_lost(text: str) -> None:
    frames, rest = split_frames(text)
    assert rest.count("\n") == text.count("\n")
    lines = text.split("\n")
    for frame in frames:
        first = frame.text.split("\n")[0]
        assert lines[frame.line - 1].startswith(first) or not frame.text


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="*"))))
def test_what_is_framed_comes_out(texts: list[str]) -> None:
    files = [(f"f{number}", f"{text}\n") for number, text in enumerate(texts)]
    frames = split_frames("".join(framed(*file) for file in files)).frames
    assert [(frame.name, frame.text) for frame in frames] == files
    assert all(frame.is_whole for frame in frames)
