"""A report of running out of memory, and one while it is being read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class OomBuffer:
    """A buffer of the list; `place` counts from 1 as printed, sizes are rounded."""

    place: int
    size_bytes: int | None = None
    unpadded_bytes: int | None = None
    shape: str | None = None
    is_parameter: bool = False
    label: str | None = None
    op_name: str | None = None
    source_file: str | None = None
    source_line: int | None = None
    allocation_type: str | None = None


@dataclass(slots=True)
class OomReport:
    """One report; `sizes` holds bytes by the names of the columns of oom_reports."""

    line: int
    form: str
    space_name: str | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    buffers: list[OomBuffer] = field(default_factory=list)


class OomReading:
    """A log as far as it was read: the reports, and what was said before one begins."""

    def __init__(self) -> None:
        self.reports: list[OomReport] = []
        self.number = 0
        self.requested: int | None = None
        self.in_buffer = False

    def report(self, form: str) -> OomReport | None:
        """Give the last report if it is of this form."""
        last = self.reports[-1] if self.reports else None
        return last if last and last.form == form else None

    def begin(self, form: str, space: str | None = None) -> OomReport:
        """Begin a report; what was asked for before belongs to it."""
        report = OomReport(self.number, form, space)
        if self.requested is not None:
            report.sizes["requested_bytes"] = self.requested
        self.requested = None
        self.reports.append(report)
        self.in_buffer = False
        return report

    def program(self, space: str) -> OomReport:
        """Give the open report about a TPU's space; begin one where there is none."""
        report = self.report("program_memory")
        if report is None or report.space_name != space or report.buffers:
            report = self.begin("program_memory", space)
        return report

    def change_buffer(self, **said: str | int | bool | None) -> bool:
        """Add to the buffer that is open; tell whether one is."""
        if self.in_buffer:
            buffers = self.reports[-1].buffers
            buffers[-1] = replace(buffers[-1], **said)  # type: ignore[arg-type]
        return self.in_buffer
