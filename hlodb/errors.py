"""What can go wrong, as a tree; the command line turns each into its exit code.

HlodbError (70)
├── UsageError (2)        wrong argument, missing path, nothing that is a dump
├── DataQualityError (3)  something was rejected under --strict, or a check failed
├── NothingToCompare (4)  no baseline, or no comparable program
├── WarehouseError (5)    unwritable, or of a schema of another version
│   └── WarehouseLocked   another process had it open for longer than we would wait
└── ParseError            text that breaks its format: line, column, what was expected
"""

from __future__ import annotations


class HlodbError(Exception):
    """Any failure that hlodb explains itself; the process returns `exit_code`."""

    exit_code = 70


class UsageError(HlodbError):
    """The request cannot be carried out as it was put."""

    exit_code = 2


class DataQualityError(HlodbError):
    """The data was read but is not sound enough for what was asked."""

    exit_code = 3


class NothingToCompare(HlodbError):
    """There is no baseline, or no program that both sides hold."""

    exit_code = 4


class WarehouseError(HlodbError):
    """The warehouse file is locked, unwritable or of a schema of another version."""

    exit_code = 5


class WarehouseLocked(WarehouseError):
    """Another process had the warehouse open for longer than we would wait.

    `is_staged` says whether what was to be ingested waits beside it.
    """

    def __init__(self, message: str, *, is_staged: bool = False) -> None:
        super().__init__(message)
        self.is_staged = is_staged


class ParseError(HlodbError):
    """Text that breaks its format at `line` and `column` (both from 1)."""

    exit_code = 3

    def __init__(
        self, message: str, *, line: int = 1, column: int = 1, snippet: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.snippet = snippet
