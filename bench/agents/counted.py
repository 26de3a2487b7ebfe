"""Run hlodb for an assistant, and count its calls and the characters of its answers.

`hlodb` on the assistant's path is this program. A line of JSON for each call goes to
the file that AGENTS_LOG names. Of a server of tools every call of a tool counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import IO


def _note(characters: int) -> None:
    with open(os.environ["AGENTS_LOG"], "a", encoding="utf-8") as log:
        log.write(json.dumps({"characters": characters}) + "\n")


def _serve(command: list[str]) -> int:
    """Pass requests and answers on, and count the calls of tools among them."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        calls: set[str] = set()
        sender = threading.Thread(
            target=_forward, args=(server.stdin, calls), daemon=True
        )
        sender.start()
        for line in server.stdout:
            answer = json.loads(line)
            if json.dumps(answer.get("id")) in calls and "result" in answer:
                content = answer["result"].get("content", [])
                _note(sum(len(part.get("text", "")) for part in content))
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    return server.returncode


def _forward(sink: IO[bytes], calls: set[str]) -> None:
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request.get("method") == "tools/call":
            calls.add(json.dumps(request["id"]))
        sink.write(line)
        sink.flush()
    sink.close()


def main() -> int:
    """Carry out one command line of hlodb."""
    command = [sys.executable, "-m", "hlodb", *sys.argv[1:]]
    if "mcp" in sys.argv[1:2]:
        return _serve(command)
    done = subprocess.run(command, stdout=subprocess.PIPE)
    _note(len(done.stdout.decode("utf-8", "replace")))
    sys.stdout.buffer.write(done.stdout)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
