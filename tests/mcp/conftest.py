"""A server that several tests ask, and the warehouse that it serves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.speaking import Client, spoken_with


@pytest.fixture(scope="session")
def client(demo_warehouse: Path) -> Iterator[Client]:
    """Return a client of a server for the demo, which remembers its answers."""
    with spoken_with(demo_warehouse) as client:
        yield client
