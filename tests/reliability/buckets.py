"""A bucket in S3, which a server on this machine plays."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import URLError
from urllib.request import Request, urlopen

_PATIENCE_SECONDS = 60


@contextmanager
def bucket(name: str) -> Iterator[dict[str, str]]:
    """Start a server with a bucket; yield the variables that lead clients to it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-p", address.rpartition(":")[2]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _make_bucket(f"{address}/{name}")
        yield {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": "me",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
    finally:
        server.kill()
        server.wait()


def _make_bucket(url: str) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            with urlopen(Request(url, method="PUT")):
                return
        except URLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
