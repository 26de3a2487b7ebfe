"""Choose a program and see what its memory holds; cells follow the choice.

`marimo edit examples/explore.py`, with HLODB_DB naming a warehouse.
"""

import marimo

app = marimo.App(width="medium")


@app.cell
def _():
    import os

    import marimo as mo

    import hlodb

    warehouse = hlodb.open(os.environ.get("HLODB_DB", "hlodb.duckdb"))
    return mo, warehouse


@app.cell
def _(mo, warehouse):
    runs = [row["run"] for row in warehouse.query("run_list").dicts()]
    run = mo.ui.dropdown(runs, value=runs[0], label="Run")
    run
    return (run,)


@app.cell
def _(mo, run, warehouse):
    spaces = warehouse.query("peak_by_space", run=run.value).dicts()
    programs = list(dict.fromkeys(row["program"] for row in spaces))
    program = mo.ui.dropdown(programs, value=programs[0], label="Program")
    program
    return (program,)


@app.cell
def _(mo, program, run, warehouse):
    held = warehouse.query(
        "peak_contents", run=run.value, program=program.value, top=20
    )
    mo.ui.table(held.dicts(), label="Values live at the peak")
    return (held,)


@app.cell
def _(mo, program, run, warehouse):
    lines = warehouse.query("peak_by_source_line", run=run.value, program=program.value)
    mo.ui.table(lines.dicts(), label="Bytes of the peak by source line")
    return (lines,)


if __name__ == "__main__":
    app.run()
