"""The Model Context Protocol over standard streams: tools and prompts.

    lines of JSON → requests → a thread for each call → lines of JSON

Revisions up to 2025-11-25 begin with `initialize`; since 2026-07-28 every request says
in its `_meta` which revision it speaks. Both are served side by side. It knows nothing
of warehouses. The official SDK is not used: importing it takes longer than hlodb may
take to start, and brings 30 packages beside the user's framework. Its client is what
the tests speak with.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

from hlodb.errors import HlodbError
from hlodb.text import json_text, visible
from hlodb.version import __version__

HANDSHAKE_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions that begin with `initialize`, oldest first."""

ENVELOPE_REVISIONS = ("2026-07-28",)
"""Revisions in which every request names its revision and the client's abilities."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_REVISION = -32022

MOST_LINE_BYTES = 1 << 20
"""Length of a request; longer ones are refused."""

MOST_ERROR_CHARACTERS = 2_000
MOST_CALLS = 4
"""Number of calls that run at once; others wait for their turn."""

_REVISION_KEY = "io.modelcontextprotocol/protocolVersion"
_ABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_LISTS = ("server/discover", "tools/list", "prompts/list")
"""Answers that a client may keep."""

_KEPT_MS = 3_600_000
_SERVER = {"name": "hlodb", "title": "hlodb", "version": __version__}
_ABILITIES: dict[str, Any] = {"tools": {}, "prompts": {}}

_log = logging.getLogger(__name__)

Fields = dict[str, Any]
Params = Mapping[str, Any]


class Stopped(Exception):
    """A call was cancelled, or took too long; the message says which."""


class Call:
    """One running call, which can be stopped from another thread.

    `on_stop` is called again and again until the call has ended, as one interrupt ends
    one statement only.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.is_cancelled = False
        self._stoppers: list[Callable[[], None]] = []
        self._ended = threading.Event()

    def on_stop(self, stop: Callable[[], None]) -> None:
        """Name a function that interrupts what the call does now."""
        self._stoppers.append(stop)

    def stop(self, reason: str, *, is_cancelled: bool = False) -> None:
        """End the call: what it does is interrupted until it has ended."""
        self.is_cancelled = self.is_cancelled or is_cancelled
        self.reason = self.reason or reason
        # No daemon: one that comes back from DuckDB while Python ends aborts it.
        threading.Thread(target=self._interrupt).start()

    def check(self) -> None:
        """Raise Stopped where the call was stopped."""
        if self.reason is not None:
            raise Stopped(self.reason)

    def end(self) -> None:
        """Mark the call as ended: nothing is left to be interrupted."""
        self._stoppers.clear()
        self._ended.set()

    def _interrupt(self) -> None:
        while not self._ended.is_set():
            for stop in tuple(self._stoppers):
                with suppress(Exception):  # What it stops may be gone already.
                    stop()
            self._ended.wait(0.05)


class Service(Protocol):
    """What a server offers. HlodbError from `call` is an answer, others are faults."""

    @property
    def instructions(self) -> str:
        """What a client tells its model about the server."""

    @property
    def tools(self) -> Sequence[Fields]:
        """Every tool as clients list it."""

    @property
    def prompts(self) -> Sequence[Fields]:
        """Every prompt as clients list it."""

    def call(self, name: str, arguments: Params, call: Call) -> Fields:
        """Carry out a tool; raise KeyError for an unknown one."""

    def prompt(self, name: str, arguments: Params) -> str:
        """Return the text of a prompt; raise KeyError for an unknown one."""


class ProtocolError(Exception):
    """A request that cannot be answered as it was put."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


@dataclass
class Server:
    """One connection; `wire` gets a line for each answer."""

    service: Service
    wire: BinaryIO
    has_shaken_hands: bool = False
    _running: dict[str, Call] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def serve(self, source: BinaryIO) -> None:
        """Answer requests until the client closes its side; then end all calls."""
        with ThreadPoolExecutor(MOST_CALLS, "call") as pool:
            try:
                for line in _lines(source):
                    self._receive(line, pool)
            finally:
                with self._lock:
                    running = list(self._running.values())
                for call in running:
                    call.stop("the client has gone", is_cancelled=True)
                pool.shutdown(cancel_futures=True)

    def _receive(self, line: bytes | None, pool: ThreadPoolExecutor) -> None:
        request: Any = None
        try:
            request = _parsed(line)
            if not isinstance(request, Mapping) or request.get("jsonrpc") != "2.0":
                message = "this is no request of JSON-RPC 2.0"
                raise ProtocolError(INVALID_REQUEST, message)
            if "id" not in request:
                self._note(request)
                return
            if "method" not in request:  # An answer; nothing was asked.
                return
            if _id_of(request) is None:
                raise ProtocolError(INVALID_REQUEST, "an id is a number or a text")
            answer = self._answer(request, pool)
        except ProtocolError as error:
            self._send({"id": _id_of(request), "error": error.error})
            return
        if answer is not None:
            self._send({"id": request["id"], "result": answer})

    def _note(self, request: Params) -> None:
        """Take a notification: only one that cancels a call means anything here."""
        params = request.get("params")
        if request.get("method") == "notifications/cancelled" and isinstance(
            params, Mapping
        ):
            with self._lock:
                call = self._running.get(_key(params.get("requestId")))
            if call is not None:
                call.stop("cancelled", is_cancelled=True)

    def _answer(self, request: Params, pool: ThreadPoolExecutor) -> Fields | None:
        """Return the result of a request; None where a thread will send it."""
        method, params = request.get("method"), request.get("params", {})
        if not isinstance(method, str) or not isinstance(params, Mapping):
            raise ProtocolError(
                INVALID_REQUEST, "a request has a method, and an object"
            )
        if method == "initialize":
            return self._shake_hands(params)
        revision = self._revision_of(method, params)
        if method == "tools/call":
            self._start(request, params, revision, pool)
            return None
        return _enveloped(self._listed(method, params), method, revision)

    def _shake_hands(self, params: Params) -> Fields:
        wanted = params.get("protocolVersion")
        is_known = wanted in HANDSHAKE_REVISIONS
        self.has_shaken_hands = True
        return {
            "protocolVersion": wanted if is_known else HANDSHAKE_REVISIONS[-1],
            "capabilities": _ABILITIES,
            "serverInfo": _SERVER,
            "instructions": self.service.instructions,
        }

    def _revision_of(self, method: str, params: Params) -> str | None:
        """Return the revision that a request names; None after a handshake."""
        meta = params.get("_meta")
        if not isinstance(meta, Mapping) or _REVISION_KEY not in meta:
            if self.has_shaken_hands or method == "ping":
                return None
            message = f"begin with initialize, or send {_REVISION_KEY} in params._meta"
            raise ProtocolError(INVALID_PARAMS, message)
        revision = meta[_REVISION_KEY]
        if not isinstance(revision, str) or _ABILITIES_KEY not in meta:
            message = f"params._meta needs {_REVISION_KEY} as text and {_ABILITIES_KEY}"
            raise ProtocolError(INVALID_PARAMS, message)
        if revision not in ENVELOPE_REVISIONS:
            raise ProtocolError(
                UNSUPPORTED_REVISION,
                "Unsupported protocol version",
                {"supported": list(ENVELOPE_REVISIONS), "requested": revision},
            )
        return revision

    def _listed(self, method: str, params: Params) -> Fields:
        match method:
            case "ping":
                return {}
            case "server/discover":
                return {
                    "supportedVersions": list(ENVELOPE_REVISIONS),
                    "capabilities": _ABILITIES,
                    "instructions": self.service.instructions,
                }
            case "tools/list":
                return {"tools": list(self.service.tools)}
            case "prompts/list":
                return {"prompts": list(self.service.prompts)}
            case "prompts/get":
                return self._prompt(params)
        raise ProtocolError(METHOD_NOT_FOUND, "Method not found", method)

    def _prompt(self, params: Params) -> Fields:
        name, arguments = _named(params, "prompt")
        try:
            text = self.service.prompt(name, arguments)
        except KeyError:
            raise ProtocolError(INVALID_PARAMS, f"no prompt {name!r}") from None
        except HlodbError as error:
            raise ProtocolError(INVALID_PARAMS, visible(str(error))) from error
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"messages": [message]}

    def _start(
        self,
        request: Params,
        params: Params,
        revision: str | None,
        pool: ThreadPoolExecutor,
    ) -> None:
        name, arguments = _named(params, "tool")
        if name not in {tool["name"] for tool in self.service.tools}:
            raise ProtocolError(INVALID_PARAMS, f"no tool {name!r}")
        key, call = _key(request["id"]), Call()
        with self._lock:
            if key in self._running:
                raise ProtocolError(INVALID_REQUEST, "a call with this id still runs")
            self._running[key] = call
        pool.submit(self._carry_out, request["id"], name, arguments, revision, call)

    def _carry_out(
        self,
        id_: object,
        name: str,
        arguments: Params,
        revision: str | None,
        call: Call,
    ) -> None:
        """Run a call in a thread and send its result; a cancelled one sends nothing."""
        try:
            call.check()
            found = self.service.call(name, arguments, call)
            text = json_text(found)
            result: Fields = {
                "content": [{"type": "text", "text": text}],
                "structuredContent": json.loads(text),
                "isError": False,
            }
        except Exception as error:
            result = _failed(error, call)
        finally:
            call.end()
            with self._lock:
                self._running.pop(_key(id_), None)
        if not call.is_cancelled:
            self._send(
                {"id": id_, "result": _enveloped(result, "tools/call", revision)}
            )

    def _send(self, message: Fields) -> None:
        line = json_text({"jsonrpc": "2.0", **message}).encode("utf-8", "replace")
        with self._lock:
            self.wire.write(line + b"\n")
            self.wire.flush()


def _failed(error: Exception, call: Call) -> Fields:
    """Return the result of a call that failed, which says what to do."""
    if call.reason is not None:
        text = call.reason
    elif isinstance(error, HlodbError | Stopped):
        text = str(error)
    elif isinstance(error, MemoryError):
        text = "out of memory: ask for fewer rows"
    else:
        _log.error("a call failed", exc_info=error)
        text = f"internal error: {type(error).__name__}; the log of hlodb says more"
    shown = visible(text)
    if len(shown) > MOST_ERROR_CHARACTERS:
        shown = f"{shown[: MOST_ERROR_CHARACTERS - 1]}…"
    return {"content": [{"type": "text", "text": shown}], "isError": True}


def _enveloped(result: Fields, method: str, revision: str | None) -> Fields:
    """Return a result with what its revision asks for beside it."""
    if revision is None:
        return result
    kept = {"ttlMs": _KEPT_MS, "cacheScope": "private"} if method in _LISTS else {}
    meta = {_SERVER_KEY: _SERVER}
    return {**result, **kept, "resultType": "complete", "_meta": meta}


def _lines(source: BinaryIO) -> Iterator[bytes | None]:
    """Yield the lines of a stream; None for one that is too long."""
    while line := source.readline(MOST_LINE_BYTES + 1):
        if len(line) <= MOST_LINE_BYTES:
            if line.strip():
                yield line
            continue
        while line and not line.endswith(b"\n"):
            line = source.readline(MOST_LINE_BYTES)
        yield None


def _parsed(line: bytes | None) -> object:
    if line is None:
        message = f"a request has at most {MOST_LINE_BYTES:,} bytes"
        raise ProtocolError(INVALID_REQUEST, message)
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        raise ProtocolError(PARSE_ERROR, "this line is not JSON") from None
    return found


def _named(params: Params, kind: str) -> tuple[str, Params]:
    """Return name and arguments of a tool or prompt."""
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str) or not isinstance(arguments, Mapping | None):
        message = f"a {kind} has a name, and an object of arguments"
        raise ProtocolError(INVALID_PARAMS, message)
    return name, arguments or {}


def _id_of(request: object) -> object:
    """Return the id of a request, None where it has none that can be repeated."""
    found = request.get("id") if isinstance(request, Mapping) else None
    return found if isinstance(found, str | int) else None


def _key(id_: object) -> str:
    """Return the id of a request as text that tells 1 from "1"."""
    return json.dumps(id_)
