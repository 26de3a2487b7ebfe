"""Run the steps of workflows and of action.yml as GitHub would, on this machine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NODE = shutil.which("node")

# What github-script gives a script: clients that note down what they are asked for.
SCRIPT = """
const asked = [];
const rest = {issues: {
  listComments: 'listComments',
  createComment: async a => { asked.push(['create', a]); },
  updateComment: async a => { asked.push(['update', a]); },
}};
const github = {rest, paginate: async () => %(comments)s};
const context = {repo: {owner: 'me', repo: 'example'}, issue: {number: 7}};
(async () => {
%(script)s
})().then(() => console.log(JSON.stringify(asked)));
"""


@dataclass(frozen=True, slots=True)
class Step:
    """A step by its name, or else by the action that it uses."""

    name: str
    text: str

    def value(self, key: str) -> str | None:
        """Return a value in the step, of one line or of a block."""
        found = re.search(
            rf"^ +{key}: (?:\|\n((?: {{8,}}.*\n|\n)+)|(.*))", self.text, re.M
        )
        return None if found is None else textwrap.dedent(found[1] or found[2])

    def environment(self) -> dict[str, str]:
        block = re.search(r"^ +env:\n((?: {8,}\w+: .*\n)+)", self.text, re.M)
        return dict(re.findall(r"(\w+): (.*)", block[1])) if block else {}


@dataclass
class Job:
    """A job in `folder`; `contexts` are values of names such as `github.token`."""

    folder: Path
    environment: dict[str, str]
    contexts: Mapping[str, str]
    comments: list[dict[str, Any]] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)
    asked: list[list[Any]] = field(default_factory=list)
    used: list[str] = field(default_factory=list)

    def run(self, text: str) -> None:
        """Run the steps of a workflow or an action, until one fails."""
        for step in steps_of(text):
            condition = step.value("if")
            if condition and not self.expression(condition):
                continue
            if action := step.value("uses"):
                self.used.append(action)
            if shell := step.value("run"):
                self.codes[step.name] = self.shell(shell, step.environment())
            elif script := step.value("script"):
                self.script(script)

    def shell(self, text: str, environment: Mapping[str, str]) -> int:
        more = {name: self.filled(value) for name, value in environment.items()}
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", text],
            cwd=self.folder,
            env={**self.environment, **more},
            capture_output=True,
            text=True,
        )
        return done.returncode

    def script(self, text: str) -> None:
        """Run JavaScript with a client that notes down what it is asked for."""
        if NODE is None:
            return
        program = SCRIPT % {"comments": json.dumps(self.comments), "script": text}
        done = subprocess.run(
            [NODE, "-e", program],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        self.asked += json.loads(done.stdout)

    def filled(self, value: str) -> str:
        """Return a value with its expressions replaced."""
        return re.sub(
            r"\$\{\{(.*?)\}\}", lambda m: str(self.expression(m[1]) or ""), value
        )

    def expression(self, text: str) -> Any:
        """Return the value of an expression of GitHub's, in the part that we use."""
        inner = re.sub(r"^\$\{\{|\}\}$", "", text.strip())
        python = re.sub(
            r"\b(?:github|inputs|runner)(?:\.[\w-]+)+",
            lambda m: f"get({m[0]!r})",
            inner,
        )
        for sign, word in ((r"&&", " and "), (r"\|\|", " or "), (r"!(?!=)", " not ")):
            python = re.sub(sign, word, python)
        names = {
            "get": lambda name: self.contexts.get(name, ""),
            "contains": lambda whole, part: part in whole,
            "cancelled": lambda: False,
        }
        return eval(python.strip(), {"__builtins__": {}}, names)


def steps_of(text: str) -> Iterator[Step]:
    """Yield the steps of a workflow or an action."""
    for part in re.split(r"^ +- (?=name:|uses:|run:)", text, flags=re.M)[1:]:
        step = Step("", " " * 8 + part)
        yield Step(step.value("name") or step.value("uses") or "run", step.text)


def inputs_of(action: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the inputs of an action by their names in expressions."""
    head = action.partition("\nruns:")[0].partition("\ninputs:\n")[2]
    defaults = dict(
        re.findall(r"^  ([\w-]+):\n(?:    .*\n)*?    default: (.*)", head, re.M)
    )
    values = {**{k: v.strip('"') for k, v in defaults.items()}, **given}
    return {f"inputs.{name}": value for name, value in values.items()}
