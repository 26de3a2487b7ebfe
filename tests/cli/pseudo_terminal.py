"""Commands on a real pseudo-terminal of a given size."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

SIZES = (60, 80, 120, 200)


def on_terminal(
    arguments: list[str], columns: int, folder: Path, **variables: str
) -> tuple[int, str]:
    """Return the exit code of a command and what it wrote to a terminal."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "hlodb", *arguments],
        cwd=folder,
        env={**kept, "TERM": "xterm-256color", **variables},
        stdout=side,
        stderr=side,
    )
    os.close(side)
    written = b""
    while chunk := _read(main):
        written += chunk
    os.close(main)
    return process.wait(), written.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that nobody writes any more
        return b""
