"""A message of PyTorch's allocator is not taken for one of XLA."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from hlodb.cli import cli

MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 30.00 GiB. GPU 0 has"
    " a total capacity of 79.18 GiB of which 18.66 GiB is free."
)


def test_an_explanation_says_whose_message_it_is(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(MESSAGE + "\n")
    said = CliRunner().invoke(cli, ["explain", str(log)]).output
    assert "a request for 30.00 GiB failed; 18.66 GiB of 79.18 GiB were free" in said
    assert "This is a message of PyTorch about its own allocator" in said
    assert "XLA_FLAGS" not in said
