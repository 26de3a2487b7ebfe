"""The tools: what each takes and answers, and the room that its answer has."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from hlodb.errors import UsageError
from hlodb.mcp import evidence
from hlodb.mcp.protocol import Call, Fields
from hlodb.mcp.schemas import (
    COLUMNS,
    COUNT,
    COUNT_OR_NULL,
    OBJECTS,
    ROWS,
    STATUS,
    TABLE,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    Argument,
    Schema,
    input_schema,
    output_schema,
)
from hlodb.mcp.session import (
    Session,
    asked_runs,
    length,
    selected_run,
    soundness,
)
from hlodb.printed_commands import positional
from hlodb.queries.catalogue import find_query, load_catalogue
from hlodb.queries.describe import described_tables, query_object
from hlodb.queries.find import MOST_FOUND, find_queries
from hlodb.queries.query import Query
from hlodb.queries.render.compact import compact
from hlodb.queries.result import Result
from hlodb.queries.run import (
    Value,
    parse_parameters,
    run_page,
    run_query,
    run_sql,
)
from hlodb.reports.build import build_diff
from hlodb.reports.config.reading import read_settings
from hlodb.reports.read.capacity import space_number
from hlodb.reports.read.overview import read_overview
from hlodb.reports.read.soundness import unsound_words
from hlodb.reports.render.compact import compared, explained, short
from hlodb.text import json_text, nearest, parse_limit, plain

MOST_SHORT = 4_000
"""Characters of the answers of `explain` and `diff`."""

MOST_LONG = 25_000
"""Characters of all other answers."""

SQL_SECONDS = 10.0
MOST_ROWS = 100
_MOST_SQL_ROWS = 10_000
_MOST_FILE_ROWS = 1_000_000
_POINTS = 1
_CELL = 200
_DEFINITION = 400
_SPARE = 300
"""Characters that are kept for what is left out."""

_COMMAND = 4_000
"""Characters of a command; longer ones are cut."""

Arguments = Mapping[str, Any]


class Tool(NamedTuple):
    """A tool; `answer` gets a session, a call and checked arguments."""

    name: str
    title: str
    doc: str
    arguments: tuple[Argument, ...]
    output: Schema
    answer: Callable[[Session, Call, Arguments], Fields]

    def described(self) -> Fields:
        """Return it as a client lists it. No tool changes anything, or goes online."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.doc,
            "inputSchema": input_schema(self.arguments),
            "outputSchema": self.output,
            "annotations": {
                "title": self.title,
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }


def explain(session: Session, call: Call, given: Arguments) -> Fields:
    """Explain what fills the memory of a run, as `hlodb explain` does."""
    run, program, limit = given["run"], given["program"], given["limit"]
    words = [*_option("run", run), *_option("program", program)]
    command = session.command("explain", *words, *_option("limit", limit))
    limits = replace(read_settings(None), limit_bytes=_limit_bytes(limit)).limits()

    def make() -> Fields:
        with session.opened(call) as connection:
            overview = read_overview(
                connection, run, program, _POINTS, top=5, limits=limits
            )
            unsound = unsound_words(connection, [overview.run])
        return _with_command(lambda most: explained(overview, unsound, most), command)

    return session.remembered(["explain", run, program, limits], make)


def diff(session: Session, call: Call, given: Arguments) -> Fields:
    """Compare two runs or programs, as `hlodb diff` does."""
    base, candidate = given["base"], given["candidate"]
    command = session.command("diff", *positional(base, candidate))
    settings = read_settings(None)

    def make() -> Fields:
        with session.opened(call) as connection:
            report = build_diff(connection, base, candidate, settings, top=20)
        return _with_command(lambda most: compared(report, most), command)

    return session.remembered(["diff", base, candidate, settings.limits()], make)


def _with_command(make: Callable[[int], Fields], command: str) -> Fields:
    """Return what `make` gives in the room that its command leaves of MOST_SHORT."""
    shown = short(command, MOST_SHORT // 4)
    found = {**make(MOST_SHORT - len(json_text(shown)) - 40), "command": shown}
    if shown != command:
        found["left_out"] = [*found["left_out"], "the end of the command"]
    return found


def find(session: Session, _: Call, given: Arguments) -> Fields:
    """Find the queries that fit a question."""
    question = given["question"]
    found = find_queries(load_catalogue(), question)
    listed = [
        {
            "name": query.name,
            "title": query.title,
            "question": query.question,
            "parameters": {p.name: p.type for p in query.parameters},
            "columns": {c.name: c.unit for c in query.columns},
        }
        for query in found
    ]
    left_out = []
    if not found:
        left_out = ["no query fits: use `sql`; `describe` knows the tables"]
    command = session.command("query", "--find", question)
    return {"queries": listed, "left_out": left_out, "command": command}


def ask(session: Session, call: Call, given: Arguments) -> Fields:
    """Answer a canned query, a page of rows at a time."""
    query = find_query(load_catalogue(), given["query"])
    values = _parameters(query, given["parameters"] or {})
    key = ["ask", query.name, values, given["columns"]]
    offset = _offset(session, key, given["cursor"])
    limit = given["limit"]
    words = [query.name]
    for name, value in (given["parameters"] or {}).items():
        words += ["-p", f"{name}={_text(value)}"]
    if given["columns"]:
        words += ["--columns", ",".join(given["columns"])]
    words += ["--limit", str(offset + limit), "--format", "compact"]

    def make() -> Fields:
        with session.opened(call) as connection:
            page = run_page(connection, query, values, offset=offset, limit=limit)
            sound = soundness(connection, asked_runs(connection, query, values))
            runs = [run.name for run in asked_runs(connection, query, values)][:5]
            is_cut = page.total > len(page.rows)
            file = None
            if is_cut and session.folder is not None:
                whole = run_page(connection, query, values, limit=_MOST_FILE_ROWS)
                file = _stored(session, key, whole)
        page = page.bounded(given["columns"] or ())
        fields: Fields = {
            "query": query.name,
            "title": query.title,
            "definition": short(query.definition, _DEFINITION),
            "runs": short(runs),
            **short(sound),
            "caveats": _caveats(page),
            "file": file,
            "cursor": None,
            "left_out": [],
            "command": session.command("query", *words),
        }
        return _with_rows(session, fields, page, key, offset, query)

    if session.folder is not None:  # A file may be gone: it is written again.
        return make()
    return session.remembered([*key, offset, limit], make)


def sql(session: Session, call: Call, given: Arguments) -> Fields:
    """Run SQL of the client's own, which only reads."""
    statement = given["statement"]
    with session.opened(call, SQL_SECONDS) as connection:
        result = run_sql(connection, statement, _MOST_SQL_ROWS)
    left_out = []
    total: int | None = len(result.rows)
    if total == _MOST_SQL_ROWS:
        total, left_out = None, [f"rows beyond the first {_MOST_SQL_ROWS:,}"]
    file = None
    if len(result.rows) > given["limit"] and session.folder is not None:
        file = _stored(session, ["sql", statement], result)
    fields: Fields = {
        "status": "not checked",
        "file": file,
        "left_out": left_out,
        "command": session.command("sql", statement),
    }
    found = _with_rows(session, fields, result.bounded((), given["limit"]), None, 0)
    return _at_end({**found, "total_rows": total})


def describe(session: Session, _: Call, given: Arguments) -> Fields:
    """Describe a canned query or a table of the warehouse."""
    name = given["name"]
    catalogue = load_catalogue()
    is_query = name in catalogue
    tables = {} if is_query else {table["name"]: table for table in described_tables()}
    if is_query:
        query = query_object(catalogue[name], catalogue)
        found = {"kind": "query", **_described_query(query)}
        command = session.command("query", name, "--help")
    elif name in tables:
        found = {"kind": tables[name]["kind"], **_described_table(tables[name])}
        command = session.command("schema", name)
    else:
        hint = nearest(name, [*catalogue, *tables])
        hint = hint or f"; tables are {', '.join(tables)}"
        raise UsageError(f"there is no query or table {name!r}{hint}")
    return _within(
        {"name": name, **found, "left_out": [], "command": command}, "columns"
    )


def show_evidence(session: Session, call: Call, given: Arguments) -> Fields:
    """Show lines of the original dump."""
    run_name, program = given["run"], given["program"]
    instruction, path = given["instruction"], given["path"]
    if (instruction is None) == (path is None):
        raise UsageError("pass instruction, or path and line")
    with session.opened(call) as connection:
        run = selected_run(connection, run_name)
        if instruction is not None:
            found = evidence.lines_of_instruction(connection, run, program, instruction)
        else:
            found = evidence.lines_around(
                connection, run, path, given["line"], given["limit"]
            )
        sound = soundness(connection, [run])
    lines = [[line.path, line.line, short(line.text, 400)] for line in found.lines]
    lines = lines[: given["limit"]]
    more = found.total - len(lines)
    fields = {
        "run": short(run.name),
        **short(sound),
        "columns": {"path": "name", "line": "id", "text": "text"},
        "total_rows": found.total,
        "rows": lines,
        "left_out": [f"{more:,} more lines"] if more > 0 else [],
        "command": found.command,
    }
    return _within(fields, "rows")


def fit(session: Session, call: Call, given: Arguments) -> Fields:
    """Find the largest size that fits, as `hlodb fit` does."""
    settings = replace(read_settings(None), limit_bytes=_limit_bytes(given["limit"]))
    limits = settings.limits()
    asked: dict[str, Value] = {
        **limits,
        "program": given["program"],
        "series": given["series"],
    }
    names = ("limit", "program", "series", "space")
    words = [word for name in names for word in _option(name, given[name])]

    def make() -> Fields:
        with session.opened(call) as connection:
            color = space_number(connection, given["space"])
            asked["color"] = color
            result = run_query(connection, "largest_fit", asked)
            query = load_catalogue()["largest_fit"]
            sound = soundness(connection, asked_runs(connection, query, asked))
        left_out = []
        if not result.rows:
            left_out = [
                "no program was compiled at two sizes that differ in one axis only"
            ]
        fields: Fields = {
            "definition": short(query.definition, _DEFINITION),
            **short(sound),
            "caveats": _caveats(result),
            "left_out": left_out,
            "command": session.command("fit", *words),
        }
        return _with_rows(session, fields, result.bounded((), MOST_ROWS), None, 0)

    key = ["fit", limits, *(given[name] for name in names)]
    return session.remembered(key, make)


def _with_rows(
    session: Session,
    fields: Fields,
    page: Result,
    key: Sequence[Any] | None,
    offset: int,
    query: Query | None = None,
) -> Fields:
    """Return an answer with the rows that find room, and a cursor behind them."""
    rows = [[short(value, _CELL) for value in row] for row in page.rows]
    table = compact(replace(page, rows=[]))
    found: Fields = {**fields, **table, "rows": []}
    left_out = list(fields["left_out"])
    if len(found["command"]) > _COMMAND:
        found["command"] = short(found["command"], _COMMAND)
        left_out.append("the end of the command")
    room = MOST_LONG - length(found) - _SPARE
    for row in rows:
        room -= len(json_text(row)) + 2
        if room < 0:
            break
        found["rows"].append(row)
    if room < 0 and not found["rows"]:
        count = len(page.columns)
        raise UsageError(f"rows of {count:,} columns are too long: ask for fewer")
    shown = offset + len(found["rows"])
    if page.total > shown:
        left_out.append(f"{page.total - shown:,} more rows")
        if key is not None:
            found["cursor"] = _cursor(session, key, shown)
    if any(isinstance(v, str) and len(v) > _CELL for row in page.rows for v in row):
        left_out.append(f"the ends of texts longer than {_CELL} characters")
    if not page.total and query is not None and query.empty:
        left_out.append(f"no rows: {query.empty}")
    return _at_end({**found, "left_out": left_out})


def _at_end(fields: Fields) -> Fields:
    """Return an answer that ends with what it leaves out and with its command."""
    last = ("left_out", "command")
    rest = {name: value for name, value in fields.items() if name not in last}
    return {**rest, **{name: fields[name] for name in last}}


def _within(fields: Fields, part: str) -> Fields:
    """Return an answer whose list or object `part` is cut until it has room."""
    whole = fields[part]
    items = list(whole.items()) if isinstance(whole, dict) else list(whole)
    count = len(items)
    while length(fields) > MOST_LONG - _SPARE and len(items) > 1:
        items = items[: len(items) * 3 // 4]
        kept = dict(items) if isinstance(whole, dict) else items
        fields = {**fields, part: kept}
    if len(items) < count:
        more = f"{count - len(items):,} more {part}"
        fields["left_out"] = [*fields["left_out"], more]
    return _at_end(fields)


def _described_query(query: Mapping[str, Any]) -> Fields:
    parameters = [
        f"{p['name']} {p['type']} = {p['default']}: {p['doc']}"
        for p in query["parameters"]
    ]
    return {
        "text": f"{query['title']}. {query['question']} {query['definition']}",
        "grain": query["grain"],
        "parameters": parameters,
        "columns": {
            column["name"]: ", ".join(
                part
                for part in (
                    column["type"],
                    column["unit"],
                    column["polarity"].replace("_", " "),
                    column["doc"],
                )
                if part != "neutral"
            )
            for column in query["columns"]
        },
    }


def _described_table(table: Mapping[str, Any]) -> Fields:
    columns = table["columns"]
    return {
        "text": table["comment"],
        "grain": "",
        "parameters": [],
        "columns": {
            c["name"]: f"{c['type']}, {c['unit']}, {c['comment']}" for c in columns
        },
    }


def _caveats(result: Result) -> list[str]:
    """Return what figures leave out, as rows say it, each once."""
    if "caveat" not in result.names:
        return []
    found = dict.fromkeys(text for text in result.column("caveat") if text)
    return short(list(found)[:5])  # type: ignore[no-any-return]


def _parameters(query: Query, given: Mapping[str, Any]) -> dict[str, Value]:
    """Return typed values of parameters, as the command line reads them."""
    words = [f"{name}={_text(value)}" for name, value in given.items()]
    return parse_parameters(query, words)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(plain, value))
    return plain(value)


def _limit_bytes(limit: str | None) -> int | None:
    if limit is None:
        return None
    try:
        return parse_limit(limit)
    except ValueError as error:
        raise UsageError(f"argument 'limit': {error}") from error


def _option(name: str, value: str | None) -> list[str]:
    return [] if value is None else [f"--{name}={value}"]


def _cursor(session: Session, key: Sequence[Any], offset: int) -> str:
    """Return where the next page begins, of this answer and this warehouse only."""
    return f"{offset}-{_digest(session, key)}"


def _digest(session: Session, key: Sequence[Any]) -> str:
    text = json.dumps([session.identity(), key], sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _offset(session: Session, key: Sequence[Any], cursor: str | None) -> int:
    if cursor is None:
        return 0
    number, _, digest = cursor.partition("-")
    if not (number.isascii() and number.isdigit() and len(number) < 16):
        raise UsageError(f"there is no cursor {cursor!r}; ask without one")
    if digest != _digest(session, key):
        raise UsageError(
            "this cursor is of another question, or the warehouse has changed since:"
            " ask again without a cursor"
        )
    return int(number)


def _stored(session: Session, key: Sequence[Any], result: Result) -> str | None:
    """Write rows to a Parquet file in the session's folder, and return its path."""
    from hlodb.queries.render.arrow import write_parquet

    assert session.folder is not None
    path = session.folder / f"{key[0]}-{_digest(session, key)}.parquet"
    if not path.exists():
        part = path.with_suffix(f".{id(result)}.part")
        try:
            with part.open("xb") as stream:
                write_parquet(result, stream)
            part.replace(path)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error
        finally:
            Path(part).unlink(missing_ok=True)
    return str(path)


_RUN = Argument("run", "text", "Name of a run; the latest if left out.")
_PROGRAM = Argument("program", "text", "Only this program.")
_LIMIT = Argument("limit", "text", "Memory that programs may use, such as 15.75GiB.")
_ROWS = Argument("limit", "count", "Rows to give.", default=10, least=1, most=MOST_ROWS)
_DESCRIBED = {"status": STATUS, "why": TEXTS}
_TABULAR = {"columns": COLUMNS, "total_rows": COUNT_OR_NULL, "rows": ROWS}

TOOLS = (
    Tool(
        "explain",
        "What fills the memory of a run",
        "What each program of a run reserves, what holds the peak of the largest"
        " (roles, source lines, buffers), headroom, reports of running out of memory,"
        " and remedies. Begin here. Sizes are exact bytes.",
        (_RUN, _PROGRAM, _LIMIT),
        output_schema(
            run=TEXT,
            **_DESCRIBED,
            device=TEXT_OR_NULL,
            program_count=COUNT,
            programs=TABLE,
            largest=OBJECTS,
            not_included=TEXT,
        ),
        explain,
    ),
    Tool(
        "diff",
        "What changed between two runs",
        "Which programs need more or less memory in the candidate than in the base, and"
        " why: parts add up to the difference. A side is RUN or RUN:PROGRAM.",
        (
            Argument("base", "text", "The run before.", is_required=True),
            Argument("candidate", "text", "The run after.", is_required=True),
        ),
        output_schema(
            base=TEXT_OR_NULL,
            candidate=TEXT,
            verdict=TEXT,
            **_DESCRIBED,
            counts={"type": "object", "additionalProperties": COUNT},
            findings=OBJECTS,
            programs=TABLE,
            notes=TEXTS,
        ),
        diff,
    ),
    Tool(
        "find_queries",
        "Find canned queries",
        f"The canned queries whose words fit a question, {MOST_FOUND} at most, with"
        " parameters and columns for `ask`.",
        (Argument("question", "text", "The question, in words.", is_required=True),),
        output_schema(queries=OBJECTS),
        find,
    ),
    Tool(
        "ask",
        "Answer a canned query",
        "Rows of a canned query with units, definition, caveats and the number of all"
        " rows. `cursor` of an answer gives the next rows.",
        (
            Argument("query", "text", "Name of the query.", is_required=True),
            Argument("parameters", "values", "Values of its parameters by name."),
            Argument("columns", "names", "Only these columns."),
            _ROWS,
            Argument("cursor", "text", "Where to go on, from an answer before."),
        ),
        output_schema(
            query=TEXT,
            title=TEXT,
            definition=TEXT,
            runs=TEXTS,
            **_DESCRIBED,
            caveats=TEXTS,
            file=TEXT_OR_NULL,
            cursor=TEXT_OR_NULL,
            **_TABULAR,
        ),
        ask,
    ),
    Tool(
        "sql",
        "Run SQL",
        "Rows of one's own DuckDB SQL, read-only, without files, for 10 seconds."
        " Canned queries are table macros: FROM peak_by_space(program := 'jit_step').",
        (
            Argument("statement", "text", "The SQL.", is_required=True),
            _ROWS,
        ),
        output_schema(status=STATUS, file=TEXT_OR_NULL, **_TABULAR),
        sql,
    ),
    Tool(
        "describe",
        "Describe a query or table",
        "Exact definition, parameters and columns of a canned query or of a table.",
        (Argument("name", "text", "Name of the query or table.", is_required=True),),
        output_schema(
            name=TEXT,
            kind=TEXT,
            text=TEXT,
            grain=TEXT,
            parameters=TEXTS,
            columns=COLUMNS,
        ),
        describe,
    ),
    Tool(
        "evidence",
        "Lines of the original dump",
        "The lines of the dump that name an instruction, its definition first; or those"
        f" around a line of a file, such as of a log. {evidence.MOST_LINES} at most.",
        (
            _RUN,
            _PROGRAM,
            Argument("instruction", "text", "Name of the instruction."),
            Argument("path", "text", "File inside the run, instead of an instruction."),
            Argument("line", "count", "Line of that file.", default=1, least=1),
            Argument(
                "limit",
                "count",
                "Lines to give.",
                default=10,
                least=1,
                most=evidence.MOST_LINES,
            ),
        ),
        output_schema(run=TEXT, **_DESCRIBED, **_TABULAR),
        show_evidence,
    ),
    Tool(
        "fit",
        "The largest size that fits",
        "The largest batch, sequence or width that fits, from runs of one program"
        " compiled at two sizes or more.",
        (
            _PROGRAM,
            Argument("series", "text", "Only the runs of this series."),
            _LIMIT,
            Argument(
                "space",
                "text",
                "The memory space, by name or number; 0 is the main memory.",
                default="0",
            ),
        ),
        output_schema(definition=TEXT, **_DESCRIBED, caveats=TEXTS, **_TABULAR),
        fit,
    ),
)
"""Every tool, in the order in which one comes to need them."""
