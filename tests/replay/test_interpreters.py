"""Environments that replay makes, by a `uv` and a Python that note their arguments."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hlodb.errors import UsageError
from hlodb.replay.interpreters import find_interpreters

RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"
OTHER = pytest.mark.skipif(RUNNING == "3.12", reason="3.12 is the other Python")

JAX = "#!/bin/sh\necho jax $RELEASE\necho jaxlib $RELEASE\necho libtpu 0.0.1\n"
UV = """\
#!/bin/sh
echo "uv $@" >> {log}
if [ "$1" = venv ]; then
    mkdir -p "$5/bin" && cp {jax} "$5/bin/python" && echo "$4" > "$5/version"
elif ! grep -q '{takes}' "$(dirname "$(dirname "$5")")/version"; then
    echo 'no wheel for this Python' >&2; exit 1
fi
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder whose `bin` leads the path, and which keeps the caches."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("RELEASE", "0.99.0")
    return tmp_path


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def uv(home: Path, takes: str) -> Path:
    """Write a `uv` whose releases of JAX take one version of Python; return its log."""
    jax = script(home / "jax", JAX)
    text = UV.format(log=home / "log", jax=jax, takes=takes)
    script(home / "bin" / "uv", text)
    return home / "log"


def lines(log: Path, home: Path) -> list[str]:
    return [line.replace(str(home), "HOME") for line in log.read_text().splitlines()]


FOLDER = "HOME/hlodb/replay/jax-0.99.0"
PIP = f"uv pip install -q --python {FOLDER}"


def test_a_release_is_installed_once(home: Path) -> None:
    log = uv(home, RUNNING)
    for _ in range(2):
        [found] = find_interpreters(["jaxlib==0.99.0"], with_tpu=False)
    assert found.versions == {"jax": "0.99.0", "jaxlib": "0.99.0", "libtpu": "0.0.1"}
    assert lines(log, home) == [
        f"uv venv -q --python {RUNNING} {FOLDER}",
        f"{PIP}/bin/python jax==0.99.0 jaxlib==0.99.0",
    ]


def test_a_release_for_tpus_has_an_environment_of_its_own(home: Path) -> None:
    log = uv(home, RUNNING)
    find_interpreters(["jax==0.99.0"], with_tpu=True)
    assert lines(log, home)[1] == (
        f"{PIP}-tpu/bin/python jax[tpu]==0.99.0 jaxlib==0.99.0"
    )


@OTHER
def test_a_release_that_the_running_python_cannot_have_gets_another(home: Path) -> None:
    log = uv(home, "3.12")
    find_interpreters(["jaxlib==0.99.0"], with_tpu=False)
    assert [line for line in lines(log, home) if "venv" in line] == [
        f"uv venv -q --python {RUNNING} {FOLDER}",
        f"uv venv -q --python 3.12 {FOLDER}",
    ]


def test_a_release_that_no_python_can_have_is_refused(home: Path) -> None:
    uv(home, "none of them")
    with pytest.raises(UsageError) as raised:
        find_interpreters(["jaxlib==0.99.0"], with_tpu=False)
    assert str(raised.value) == (
        "JAX 0.99.0 could not be installed: no wheel for this Python\nInstall it in an"
        " environment of yours, and pass --with PATH-TO-ITS-PYTHON"
    )
    assert not (home / "hlodb" / "replay" / "jax-0.99.0" / "complete").exists()


@OTHER
def test_without_uv_the_modules_of_python_are_used(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The running Python fails; the one of another version does it."""
    jax = script(home / "jax", JAX)
    monkeypatch.setattr("sys.executable", str(_python(home, "running", jax, code=1)))
    _python(home, "python3.12", jax, code=0)
    find_interpreters(["jaxlib==0.99.0"], with_tpu=False)
    assert lines(home / "log", home) == [
        f"running -m venv {FOLDER}",
        f"python3.12 -m venv {FOLDER}",
        "made -m pip install -q jax==0.99.0 jaxlib==0.99.0",
    ]


def _python(home: Path, name: str, jax: Path, *, code: int) -> Path:
    """Write a Python whose environments list JAX, and note what pip is asked for."""
    made = home / "made"
    note = f'[ "$2" = pip ] && echo "made $@" >> {home}/log && exit'
    script(made, jax.read_text().replace("\n", f"\n{note}\n", 1))
    text = (
        f'#!/bin/sh\necho "{name} $@" >> {home}/log\n'
        f'mkdir -p "$3/bin" && cp {made} "$3/bin/python"\nexit {code}\n'
    )
    return script(home / "bin" / name, text)
