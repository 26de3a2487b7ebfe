"""Fuzz every target for a while: `python -m tests.fuzz --seconds 600 [TARGET…]`.

An input that raises, takes too long or takes too much memory is written to
`tests/fuzz/found/TARGET/` and printed; mended, it stays there as a test.
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
    """Give what is wrong with how a target takes an input; empty, if nothing is."""
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


def fuzz(name: str, seconds: float, number: int) -> tuple[int, int]:
    """Try mutated seeds for a while; give how many inputs, how many did harm."""
    target = TARGETS[name]
    random = Random(f"{name} {number}")
    starts = [data for kind in target.kinds for data in seeds().get(kind, [])]
    tried = bad = 0
    told: set[str] = set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = mutate(random, starts)
        tried += 1
        wrong = attempt(target, data)
        if not wrong:
            continue
        bad += 1
        where = "\n".join(wrong.splitlines()[-3:])
        if where not in told:
            told.add(where)
            print(f"--- {name}: {keep(name, data)}\n{wrong}", flush=True)
    return tried, bad


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
    options = parser.parse_args()
    names = options.targets or list(TARGETS)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    harmed = 0
    for name in names:
        tried, bad = fuzz(name, options.seconds / len(names), options.seed)
        print(f"{name}: {tried} inputs, {bad} did harm", flush=True)
        harmed += bad
    return 1 if harmed else 0


if __name__ == "__main__":
    sys.exit(main())
