"""The list of files that `make test` leaves to `make test-long`."""

from tests.conftest import LONG_FILES, REPOSITORY


def test_each_is_a_file_of_tests_and_named_once() -> None:
    lines = (REPOSITORY / "tests" / "long_files.txt").read_text("utf-8").splitlines()
    assert lines == sorted(set(lines))
    assert len(lines) == len(LONG_FILES)
    assert [path for path in LONG_FILES if not path.name.startswith("test_")] == []
    assert [path for path in LONG_FILES if not path.is_file()] == []
