"""What buffers are called in the words of a cause."""

from __future__ import annotations

import pytest

from hlodb.reports.read.causes import buffer_label
from hlodb.reports.read.differences import Buffer


@pytest.mark.parametrize(
    ("opcode", "path", "label"),
    [
        ("dot", "jit(f)/jvp(Model)/layer/dot_general", "dot_general"),
        ("fusion", "jit(f)/jit(log_softmax)", "jit(log_softmax)"),
        ("all-reduce", "jit(f)/a/(b/dot:c/dot)", "all-reduce of dot"),
        ("all-reduce", "jit(f)/(b/dot:c/sum)", "all-reduce of several operations"),
        # A framework path may be cut before the list begins.
        ("all-reduce", "scatter-add:sum:sum)", "all-reduce of several operations"),
        (
            "all-gather",
            "k/dot:transpose(jvp(T))/dot:jvp()/sum)",
            "all-gather of several operations",
        ),
        ("add", "loss:ce/add", "add"),
    ],
)
def test_merged_operations_are_one_where_they_have_one_name(
    opcode: str, path: str, label: str
) -> None:
    buffer = Buffer(1, f"{opcode}.1", opcode, path, "f32[8]", None, None, 32)
    assert buffer_label(buffer) == label
