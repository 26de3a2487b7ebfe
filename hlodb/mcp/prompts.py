"""Prompts: how to go about the three questions that most people come with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hlodb.errors import UsageError
from hlodb.text import json_text

_LONGEST = 200


class Prompt(NamedTuple):
    """A prompt; `arguments` are texts, each with what it is."""

    name: str
    title: str
    doc: str
    arguments: Mapping[str, str]
    steps: str

    def described(self) -> dict[str, Any]:
        """Return it as a client lists it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.doc,
            "arguments": [
                {"name": name, "description": doc, "required": False}
                for name, doc in self.arguments.items()
            ],
        }

    def text(self, given: Mapping[str, Any]) -> str:
        """Return its steps, with the given names behind them as JSON: they are data."""
        for name, value in given.items():
            if name not in self.arguments or not isinstance(value, str):
                known = ", ".join(self.arguments)
                raise UsageError(f"prompt {self.name} takes {known}, as texts")
        named = {name: value[:_LONGEST] for name, value in given.items()}
        return (
            f"{self.steps}\n\nAsked about: {json_text(named)}" if named else self.steps
        )


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "oom",
            "Why a job ran out of memory",
            "Find the program, what fills its memory, and the edit that frees most.",
            {"run": "Name of the run.", "program": "Name of the program."},
            "A job ran out of memory. 1. Call `explain` for the run: `out_of_memory`"
            " has the message of the log, `programs` what each needs against its limit."
            " 2. If `status` is unknown, say why and stop. 3. Name the program, the"
            " memory space, needed and available bytes, and the lines and buffers that"
            " hold the peak. 4. `ask` the query `remedies` for the program: give at"
            " most three, each with what reserved memory and the live peak fall by. 5."
            " Do not add bytes of two memory spaces, and do not promise a fit that the"
            " figures do not show. End with the commands that repeat the figures.",
        ),
        Prompt(
            "regression",
            "Why memory grew",
            "Say what grew between two runs, by how much, and why.",
            {"base": "The run before.", "candidate": "The run after."},
            "Memory grew between two runs. 1. Without names, `ask` the query `run_list`"
            " and take the two latest of one series. 2. Call `diff`; if `status` is"
            " unknown, say why and stop. 3. For the largest finding give bytes before"
            " and after, the parts (they add up to the difference), the cause with its"
            " standing, and the source line; a cause that is `likely` is a guess. 4."
            " Call `diff` with RUN:PROGRAM on both sides for what was left out, and"
            " `evidence` for an instruction that it names. 5. To know since when, `ask`"
            " `differences_since` or `peak_history`.",
        ),
        Prompt(
            "ci-gate",
            "Whether a change may pass",
            "Judge a candidate run against its base for a continuous-integration"
            " check.",
            {"base": "The run before.", "candidate": "The run to judge."},
            "Judge a candidate run. 1. Call `diff` of base and candidate. 2. A `status`"
            " of unknown is no pass: say what could not be read. 3. List the programs"
            " that are worse, with bytes and cause; say `pass` only where none is, and"
            " where every program was compared. 4. `ask` `headroom` for the candidate:"
            " name programs whose status is warn or oom. 5. The gate itself is `hlodb"
            " report`, whose exit code 1 fails a build: name that command.",
        ),
    )
}
"""Every prompt by its name."""
