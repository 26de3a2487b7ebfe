"""A client of our own that speaks JSON-RPC with a server process, line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

HANDSHAKE, ENVELOPE = "2025-11-25", "2026-07-28"
_LONGEST_SECONDS = 300
_PREFIX = "io.modelcontextprotocol/"

Fields = dict[str, Any]


class Client:
    """One connection; requests of the envelope revision carry it in `_meta`."""

    def __init__(
        self,
        sink: IO[bytes],
        source: IO[bytes],
        revision: str,
        give_up: Callable[[], None],
    ) -> None:
        self._sink, self._source, self.revision = sink, source, revision
        self._give_up = give_up
        self._last = 0
        self._waiting: dict[object, Fields] = {}

    def initialize(self) -> Fields:
        info = {"name": "test", "version": "1"}
        asked = {
            "protocolVersion": self.revision,
            "capabilities": {},
            "clientInfo": info,
        }
        found = self.request("initialize", asked)
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Fields:
        return self.answer_to(self.send(method, params))

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        self._last += 1
        given: Fields = dict(params or {})
        if self.revision == ENVELOPE:
            given["_meta"] = {
                f"{_PREFIX}protocolVersion": ENVELOPE,
                f"{_PREFIX}clientCapabilities": {},
            }
        request = {"id": self._last, "method": method, "params": given}
        self.write({"jsonrpc": "2.0", **request})
        return self._last

    def write(self, message: Mapping[str, Any] | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self._sink.write(line + b"\n")
        self._sink.flush()

    def answer_to(self, number: int | None) -> Fields:
        """Return the answer to a request; others that come first are kept."""
        # A request without an answer ends the test, however slow the machine is.
        watch = threading.Timer(_LONGEST_SECONDS, self._give_up)
        watch.daemon = True
        watch.start()
        while number not in self._waiting:
            line = self._source.readline()
            assert line, "the server has gone"
            answer = json.loads(line)
            self._waiting[answer["id"]] = answer
        watch.cancel()
        return self._waiting.pop(number)

    def call(self, tool: str, **arguments: Any) -> Fields:
        """Return the result of a tool call."""
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        result: Fields = answer["result"]
        return result


@contextmanager
def spoken_with(
    db: Path, *options: str, revision: str = HANDSHAKE, **environment: str
) -> Iterator[Client]:
    """Start a server for a warehouse, and yield a client that may ask it."""
    command = [sys.executable, "-m", "hlodb", "mcp", "--db", str(db), *options]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        client = Client(process.stdin, process.stdout, revision, process.kill)
        if revision != ENVELOPE:
            client.initialize()
        try:
            yield client
        finally:
            process.stdin.close()
            rest = process.stdout.read()
            assert process.wait(30) == 0
            assert rest == b""


def error_of(result: Mapping[str, Any]) -> str:
    """Return the message of a call that failed."""
    assert result["isError"] is True
    assert "structuredContent" not in result
    [content] = result["content"]
    text: str = content["text"]
    return text


def answer_of(result: Mapping[str, Any]) -> Fields:
    """Return the answer of a call: its text is the same as its structure."""
    assert result["isError"] is False, result["content"]
    [content] = result["content"]
    answer: Fields = result["structuredContent"]
    assert content["type"] == "text"
    assert json.loads(content["text"]) == answer
    return answer
