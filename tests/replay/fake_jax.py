"""An interpreter for replay that has no JAX: it plays a compiler, by files.

`fake_python` writes one. It lists its versions, keeps jobs and environments beside
itself, and does what the text of the program says: `crash`, `hang`, `refuse` or
`exceed`; else, and before it exceeds the memory of the device, it "dumps" the files of
a folder as module 0.
"""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

_SCRIPT = """\
#!{python}
import json, os, pathlib, re, resource, shutil, signal, sys, time

HERE = pathlib.Path(__file__).parent
if sys.argv[2] == "-c":
    print({versions!r})
    sys.exit()
folder = pathlib.Path(sys.argv[3])
job = json.loads((folder / "job.json").read_text())
text = (folder / job["source"]).read_text()
number = len(list(HERE.glob("job-*.json")))
seen = dict(job, text=text, environment=dict(os.environ), pid=os.getpid())
own = HERE / f"new-{{os.getpid()}}"
own.write_text(json.dumps(seen))
while True:  # Another may take the number at the same time.
    try:
        os.link(own, HERE / f"job-{{number}}.json")
        break
    except FileExistsError:
        number += 1
own.unlink()
words = set(re.findall("[a-z]+", text))
if "crash" in words:
    print("F1126 check failed: no such layout", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)
if "hang" in words:
    time.sleep(600)
refusal = "XlaRuntimeError: INVALID_ARGUMENT: no\\nmore of it"
error = refusal if "refuse" in words else None
if "exceed" in words:
    error = "RESOURCE_EXHAUSTED: too much"
if error != refusal:
    [out] = re.findall(r"--xla_dump_to=(\\S+)", os.environ["XLA_FLAGS"])
    dumped = HERE / ("donated" if job["donate"] is not None else "plain")
    pathlib.Path(out).mkdir()
    for file in dumped.iterdir():
        shutil.copyfile(file, pathlib.Path(out) / file.name)
notes = ["a note"] if job["donate"] else []
result = {{"versions": {{}}, "notes": notes, "error": error}}
(folder / "result.json").write_text(json.dumps(result))
"""


def fake_python(
    folder: Path, plain: Path, donated: Path | None = None, release: str = "0.99.0"
) -> Path:
    """Return an interpreter that dumps files of `plain`, of `donated` with --donate."""
    folder.mkdir(parents=True)
    versions = f"jax {release}\njaxlib {release}"
    path = folder / "python"
    path.write_text(_SCRIPT.format(python=sys.executable, versions=versions))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (folder / "plain").symlink_to(plain)
    (folder / "donated").symlink_to(donated or plain)
    return path


def jobs(python: Path) -> list[dict[str, Any]]:
    """Return the jobs that a fake interpreter was given, in their order."""
    files = sorted(python.parent.glob("job-*.json"))
    return [json.loads(file.read_text()) for file in files]
