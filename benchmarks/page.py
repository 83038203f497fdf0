"""The page `docs/benchmarks.md`, its plots, and the figures that other documents quote: all from the results.

`python benchmarks/page.py` writes them from `benchmarks/results/*.json`; a test compares what is written.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from measuring import PLAIN, RATIO, Answer, Figure, Results, Row
from plots import Axis, Points, plot

PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "benchmarks" / "results"
PAGE = "docs/benchmarks.md"
WATCHED = ("install", "run", "anomaly mode", "no-op TorchDispatchMode", "TorchLens")
CLOSE = 1.5  # ratios below this are shown with three decimals
# <!-- figure: NAME -->…<!-- end -->: what stands between is written by this module.
QUOTED = re.compile(r"(<!-- figure: (?P<name>[\w-]+) -->)(?P<text>.*?)(<!-- end -->)", re.DOTALL)

HEAD = """\
# Benchmarks

`make bench` measures all of this on your machine, in some ten minutes, beside the tools that it is compared with
(pinned in `requirements/bench.txt`), and writes this page. Every number below is from the files in
`benchmarks/results`.

How it is measured: nothing is compared but neighbours. A round measures every side once, in an order that is drawn,
and the plain program twice. A figure is the median over all rounds of the ratio to the plain side of the same round,
with its quartiles: half of all rounds lie between them. *Null* is the same ratio of the two plain sides, which is
what would be found if there were nothing to find: a figure that lies within its null's quartiles was not told apart
from nothing. Times are those of the processor, unless a device is waited for, so that other work on the machine is
not in them.
"""


@dataclass(frozen=True)
class Table:
    """Rows that have at least one of these figures."""

    columns: tuple[str, ...]
    first: str = ""  # what the rows are


@dataclass(frozen=True)
class Section:
    """What the page says about one question."""

    question: str
    title: str
    text: str
    tables: tuple[Table, ...]
    after: str = ""


SECTIONS = (
    Section(
        "overhead",
        "A watched step",
        """\
A step of training under `gradsan.install()` and `gradsan run`, after their first seconds, against a plain step: one
process trains, and is watched in some stretches of its steps. Beside it, what PyTorch's anomaly mode (without its
search for NaN) and an empty `TorchDispatchMode` make of the same steps, and a step whose forward pass is traced by
TorchLens. TorchLens changes torch for the rest of the process, so its plain steps were measured before it was loaded.
Nobody trains with the last model of the table: its steps are 20,000 lines that multiply two numbers.""",
        (Table(("a plain step", *WATCHED), "model"), Table(("run --details",), "model")),
    ),
    Section(
        "first_second",
        "The first second",
        """\
The first passes of a line are walked, functions that are there already are prepared, and silent problems are looked
for. How much longer the first second of training takes for it: copies of one process train for as many steps as a
plain one does in a second. What was spent stays spent, so a longer run has a smaller share of it. Loading gradsan's
modules is part of `install()`.""",
        (
            Table(("takes",), "call"),
            Table(
                ("steps", "install", "install, of a run of ten seconds", "run", "run, of a run of ten seconds"), "model"
            ),
            Table(("run --details", "the first 300 steps of run --details, against run"), "model"),
        ),
    ),
    Section(
        "explaining",
        "An explanation",
        """\
The failing `backward()` with its explanation, against one plain `backward()` of the same graph. An exponent of 1 is
linear. What is the same for every explanation is most of it in small graphs.""",
        (Table(("an explanation takes", "for each", "against one plain backward()"), "graph"),),
    ),
    Section(
        "production",
        "A long run",
        """\
Memory of a process that trains with very small steps, more than it had when it began to, as the steps go on. It must
not rise for longer than that of a plain process does. gradsan's own code is loaded in all of them.""",
        (
            Table(
                (
                    "more memory at the end",
                    "growth in the last quarter",
                    "a step takes",
                    "against plain",
                    "charged for a step",
                ),
                "mode",
            ),
        ),
    ),
    Section(
        "check_speed",
        "Checking source",
        """\
`gradsan check` on one core, against bare `ast.parse` of the same files, with the start of the command in it; ruff has
its usual rules and one thread. Files that lead to no backward pass are only read. TorchFix takes minutes for all
files, so it has a sample. Below, every file by itself, of which nothing is known yet, against its own parse.""",
        (
            Table(("lines a second", "against `ast.parse`"), "command"),
            Table(("all", "those that are followed", "the slowest"), ""),
        ),
    ),
    Section(
        "startup",
        "Starting",
        "Processor time of whole processes.",
        (Table(("CPU time", "against bare Python"), "command"),),
    ),
    Section(
        "plugin_speed",
        "Tests",
        "What `pytest --gradsan` adds to one test; what it adds to a session is not in it.",
        (Table(("costs more",), "test"),),
    ),
    Section(
        "typing_speed",
        "An editor",
        """\
From the message of an editor that a text has changed to the message of `gradsan server` with its findings, in a
project of 200 files; time of the wall.""",
        (Table(("heard after",), "what happened"),),
    ),
    Section(
        "upstream",
        "A patch for PyTorch",
        "What the patch of [For PyTorch itself](upstream.md) costs a step.",
        (Table(("a plain step", "patched", "more a step"), "model"),),
    ),
)


def load(folder: Path = RESULTS) -> dict[str, Results]:
    """All results, by the names of their files."""
    files = sorted(folder.glob("*.json"))
    return {each.stem: msgspec.json.decode(each.read_bytes(), type=Results) for each in files}


def documents(results: Mapping[str, Results]) -> dict[str, str]:
    """Everything that is written from the results: contents by path, from the root of the project."""
    written = {f"docs/benchmarks/{name}.svg": drawn for name, drawn in _plots(results).items()}
    written[PAGE] = page(results)
    for file in (PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))):
        text = file.read_text(encoding="utf-8")
        if QUOTED.search(text):
            written[file.relative_to(PROJECT).as_posix()] = QUOTED.sub(
                lambda found: found[1] + QUOTES[found["name"]](results) + found[4], text
            )
    return written


def page(results: Mapping[str, Results]) -> str:
    """Every question that has an answer."""
    parts = [HEAD, _machines(results)]
    for section in SECTIONS:
        answers = {
            name: each.answers[section.question] for name, each in results.items() if section.question in each.answers
        }
        if not answers:
            continue
        parts.append(f"## {section.title}\n\n{section.text}\n")
        for name, answer in answers.items():
            parts.append(f"### {section.title}, {_machine_name(name, results)}\n")
            parts += [_table(table, answer) for table in section.tables if _rows(table, answer)]
            if section.question == "overhead":
                parts.append(_goals(answer))
            parts += _facts(answer)
        pictures = [each for each in _plots(results) if each.startswith(section.question)]
        parts += [f"![{section.title}](benchmarks/{each}.svg)\n" for each in pictures]
    return "\n".join(parts)


def _machine_name(name: str, results: Mapping[str, Results]) -> str:
    machine = results[name].machine
    return "on a GPU" if "GPU" in machine else "on a CPU"


def _machines(results: Mapping[str, Results]) -> str:
    names = list(results)
    keys = list(dict.fromkeys(key for each in results.values() for key in (*each.machine, *each.versions)))
    lines = [
        "| | " + " | ".join(_machine_name(name, results) for name in names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    for key in keys:
        cells = [(each.machine | each.versions).get(key, "") for each in results.values()]
        lines.append(f"| {key} | " + " | ".join(cells) + " |")
    quick = any(each.quick for each in results.values())
    warning = "\n**Some of this is from a quick run, which only shows that the harness works: it means nothing.**\n"
    return "\n".join(lines) + "\n" + (warning if quick else "")


def _rows(table: Table, answer: Answer) -> list[Row]:
    return [row for row in answer.rows if any(column in row.figures for column in table.columns)]


def _table(table: Table, answer: Answer) -> str:
    rows = _rows(table, answer)
    columns = [each for each in table.columns if any(each in row.figures for row in rows)]
    lines = [
        f"| {table.first} | " + " | ".join(_column(each) for each in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for row in rows:
        cells = [_cell(row.figures[each]) if each in row.figures else "" for each in columns]
        lines.append(f"| {row.subject} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _column(name: str) -> str:
    return {"install": "`gradsan.install()`", "run": "`gradsan run`", "run --details": "`gradsan run --details`"}.get(
        name, name
    )


def _cell(figure: Figure) -> str:
    value, null = figure.value, figure.null
    unit = "" if figure.unit in (RATIO, "") else f" {figure.unit}"
    text = _number(value.middle, figure.unit) + unit
    if value.count > 1:
        text += f" ({_number(value.low, figure.unit)} to {_number(value.high, figure.unit)})"
    if null is not None and null.count > 1:
        low, high = _number(null.low, figure.unit), _number(null.high, figure.unit)
        text += f"<br>null {_number(null.middle, figure.unit)} ({low} to {high})"
    return text


def _number(value: float, unit: str) -> str:
    if unit == RATIO and abs(value) < CLOSE:
        return f"{value:.3f}"
    if abs(value) >= 100:  # noqa: PLR2004 # three digits say enough
        return f"{value:,.0f}"
    if abs(value) >= 10:  # noqa: PLR2004 # likewise
        return f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 0.1 or value == 0 else f"{value:.2g}"  # noqa: PLR2004 # likewise


def _goals(answer: Answer) -> str:
    """Whether each is met, as far as it is decided."""
    lines = [
        "The goals: at most 1.01 for steps of 5 ms and more, 1.03 from 1 ms on, 1.06 from 0.3 ms on. One is",
        "*met* where the median lies below it with a probability of 95 %, *missed* where it lies above, and else",
        "*not decided*.\n",
        "| model | a plain step | goal | `gradsan.install()` | `gradsan run` |",
        "|---|---|---|---|---|",
    ]
    for row in answer.rows:
        goal = row.figures["install"].goal if "install" in row.figures else None
        if goal is None:
            continue
        step = row.figures["a plain step"].value.middle
        lines.append(
            f"| {row.subject} | {_number(step, 'ms')} ms | {goal} | "
            + " | ".join(_verdict(row.figures[each]) for each in ("install", "run"))
            + " |"
        )
    return "\n".join(lines) + "\n"


def _verdict(figure: Figure) -> str:
    value = figure.value
    return f"{figure.verdict}: {value.middle:.3f}, between {value.least:.3f} and {value.most:.3f}"


def _facts(answer: Answer) -> list[str]:
    return ["\n".join(f"- {name}: {value}" for name, value in answer.facts.items()) + "\n"] if answer.facts else []


def _plots(results: Mapping[str, Results]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, each in results.items():
        for kind, draw in DRAWN.items():
            question = kind.partition("-")[0]
            if question in each.answers and (drawn := draw(each.answers[question], _machine_name(name, results))):
                found[f"{kind}-{name}"] = drawn
    return found


def _draw_overhead(answer: Answer, where: str) -> str:
    ordered = sorted((row for row in answer.rows if "anomaly mode" in row.figures), key=_step)
    series: dict[str, Points] = {
        each: [(_step(row), row.figures[each].value.middle) for row in ordered if each in row.figures]
        for each in WATCHED
    }
    series = {name: points for name, points in series.items() if points}
    x, y = Axis("milliseconds of a plain step", logarithmic=True), Axis("times a plain step", logarithmic=True)
    return plot(f"A watched step, {where}", x, y, series) if series else ""


def _draw_watched(answer: Answer, where: str) -> str:
    """What gradsan costs, beside what noise gives."""
    ordered = sorted((row for row in answer.rows if row.figures["install"].goal is not None), key=_step)
    if not ordered:
        return ""
    series: dict[str, list[tuple[float, float]]] = {"install": [], "run": [], "null of install": [], "goal": []}
    for row in ordered:
        figure = row.figures["install"]
        null = figure.value if figure.null is None else figure.null
        values = (figure.value.middle, row.figures["run"].value.middle, null.middle, figure.goal or 1.0)
        for points, value in zip(series.values(), values, strict=True):
            points.append((_step(row), (value - 1) * 100))
    x, y = Axis("milliseconds of a plain step", logarithmic=True), Axis("percent more than a plain step")
    return plot(f"A watched step, closely, {where}", x, y, series)


def _step(row: Row) -> float:
    return row.figures["a plain step"].value.middle


def _draw_beginning(answer: Answer, _: str) -> str:
    return plot("What the first second costs", Axis("step", logarithmic=True), Axis("milliseconds more"), answer.curves)


def _draw_explaining(answer: Answer, _: str) -> str:
    x, y = Axis("size", logarithmic=True), Axis("seconds", logarithmic=True)
    return plot("An explanation", x, y, answer.curves)


def _draw_memory(answer: Answer, _: str) -> str:
    return plot("Memory of a long run", Axis("steps"), Axis("MB more than at its start"), answer.curves)


def _draw_files(answer: Answer, _: str) -> str:
    y = Axis("times its parse", logarithmic=True)
    return plot("Every file, against its parse", Axis("percent of all files"), y, answer.curves, {"50 times": 50.0})


DRAWN: dict[str, Callable[[Answer, str], str]] = {
    "overhead": _draw_overhead,
    "overhead-closely": _draw_watched,
    "first_second": _draw_beginning,
    "explaining": _draw_explaining,
    "production": _draw_memory,
    "check_speed": _draw_files,
}


def _asked(results: Mapping[str, Results], question: str) -> list[Answer]:
    return [each.answers[question] for each in results.values() if question in each.answers]


def _figure(results: Mapping[str, Results], question: str, column: str, subject: str = "") -> Figure:
    """The first that there is."""
    rows = [row for answer in _asked(results, question) for row in answer.rows]
    return next(row.figures[column] for row in rows if column in row.figures and subject in row.subject)


def _short(results: Mapping[str, Results]) -> str:
    """The table of the README: medians of every machine."""
    text = "\n"
    for each in results.values():
        answer = each.answers["overhead"]
        columns = [name for name in WATCHED if any(name in row.figures for row in answer.rows)]
        machine = each.machine.get("GPU") or f"one core, {each.machine['processor']}"
        text += f"\n| {machine}: a plain step | " + " | ".join(map(_column, columns)) + " |\n"
        text += "|---" * (len(columns) + 1) + "|\n"
        for row in answer.rows:
            cells = [_number(row.figures[c].value.middle, RATIO) if c in row.figures else "" for c in columns]
            text += f"| {row.subject}, {_number(_step(row), 'ms')} ms | " + " | ".join(cells) + " |\n"
    return text + "\n"


def _range(results: Mapping[str, Results], column: str) -> str:
    found = [
        row.figures[column].value.middle
        for each in _asked(results, "overhead")
        for row in each.rows
        if column in row.figures
    ]
    return f"{min(found):.1f} to {max(found):.1f}"


def _took(question: str, column: str, subject: str = "") -> Callable[[Mapping[str, Results]], str]:
    def text(results: Mapping[str, Results]) -> str:
        figure = _figure(results, question, column, subject)
        unit = "" if figure.unit == RATIO else f" {figure.unit}"
        digits = f"{figure.value.middle:.2g}" if figure.unit != RATIO else f"{figure.value.middle:.2f}"
        return f"{float(digits):g}{unit}"

    return text


def _floor(results: Mapping[str, Results]) -> float:
    """Microseconds a step that a budget cannot save, beside what is charged to it."""
    watched, plain = (_figure(results, "production", "a step takes", name).value.middle for name in ("budget", PLAIN))
    return watched - plain - _figure(results, "production", "charged for a step").value.middle


QUOTES: dict[str, Callable[[Mapping[str, Results]], str]] = {
    "watched": _short,
    "anomaly": lambda results: _range(results, "anomaly mode"),
    "first-run": _took("first_second", "run", "transformer"),
    "typing": _took("typing_speed", "heard after", "a file changed"),
    "test-plain": _took("plugin_speed", "costs more", "without"),
    "test-training": _took("plugin_speed", "costs more", "trains"),
    "details-first": _took("first_second", "the first 300 steps of run --details, against run"),
    "details-later": _took("overhead", "run --details"),
    "at-rest": _took("production", "charged for a step"),
    "floor": lambda results: f"{_floor(results):.0f} µs",
    "floor-step": lambda results: f"{_floor(results) / 0.005 / 1e3:.1f} ms",
    "patch": _took("upstream", "more a step", "one op"),
    "patch-step": _took("upstream", "patched", "small perceptron"),
}


def write(written: Mapping[str, str]) -> Sequence[str]:
    """Put them where they belong; which have changed."""
    changed = []
    for name, text in written.items():
        file = PROJECT / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            changed.append(name)
    return changed


if __name__ == "__main__":
    print("\n".join(write(documents(load()))) or "nothing has changed")
