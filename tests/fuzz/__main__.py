"""Fuzz every target for a while: `python -m tests.fuzz --seconds 600 [TARGET…]`.

An input that raises, takes too long or takes too much memory is printed, and written to
`tests/fuzz/found/TARGET/`, where the tests try it. With --record the number of inputs
is added to docs/figures/fuzzing.json.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import time
import traceback
from hashlib import sha256
from pathlib import Path
from random import Random

from tests.fuzz.mutate import mutate
from tests.fuzz.record import Tried, add
from tests.fuzz.seeds import FOUND, seeds
from tests.fuzz.targets import TARGETS, FuzzTarget

_PATIENCE_SECONDS = 2.0
_SECONDS_PER_BYTE = 40e-6
"""A parser that needs more than 2 s and 40 s a megabyte hangs."""

_MOST_MEMORY = 3 << 30


class _TooSlow(BaseException):
    pass


def _interrupt(*_: object) -> None:
    raise _TooSlow


def attempt(target: FuzzTarget, data: bytes) -> str:
    """Return the fault in a target's handling of an input; empty if there is none."""
    signal.signal(signal.SIGVTALRM, _interrupt)
    patience = _PATIENCE_SECONDS + _SECONDS_PER_BYTE * len(data)
    signal.setitimer(signal.ITIMER_VIRTUAL, patience)
    try:
        target.read(data)
    except target.may_raise:
        return ""
    except _TooSlow:
        return f"took more than {patience:.1f} s\n{traceback.format_exc(limit=-6)}"
    except BaseException:
        return traceback.format_exc(limit=-6)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return ""


def fuzz(name: str, seconds: float, number: int) -> Tried:
    """Try mutated seeds for a while; give how many, and how many kinds of harm."""
    target = TARGETS[name]
    random = Random(f"{name} {number}")
    starts = [data for kind in target.kinds for data in seeds().get(kind, [])]
    inputs = 0
    told: set[str] = set()
    end, began = time.monotonic() + seconds, time.process_time()
    while time.monotonic() < end:
        data = mutate(random, starts)
        inputs += 1
        tell_new(name, data, attempt(target, data), told)
    return Tried(inputs, time.process_time() - began, len(told))


def tell_new(name: str, data: bytes, wrong: str, told: set[str]) -> None:
    """Keep and print an input that did harm of a kind that was not told before."""
    where = "\n".join(wrong.splitlines()[-3:])
    if wrong and where not in told:
        told.add(where)
        print(f"--- {name}: {keep(name, data)}\n{wrong}", flush=True)


def keep(name: str, data: bytes) -> Path:
    """Write an input that did harm to where the tests find it."""
    path = FOUND / name / sha256(data).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def main() -> int:
    """Fuzz, and print how many inputs each target took; give 1 where harm was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=600, help="for all together")
    parser.add_argument("--seed", type=int, default=1, help="for other inputs")
    parser.add_argument("--record", action="store_true", help="add to docs/figures")
    options = parser.parse_args()
    names = options.targets or list(TARGETS)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    harmed = 0
    for name in names:
        tried = fuzz(name, options.seconds / len(names), options.seed)
        print(f"{name}: {tried.inputs} inputs, {tried.findings} findings", flush=True)
        harmed += tried.findings
        if options.record:
            add(name, "mutated", tried)
    return 1 if harmed else 0


if __name__ == "__main__":
    sys.exit(main())
