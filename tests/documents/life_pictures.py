"""The pictures of a graph's life in `docs/how-it-works.md`: a program is run line by line, and its graph is drawn.

What is drawn is what PyTorch has: which ops there are, where they lead, and whether what they saved can still be read.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any

_COLUMNS = ("Mul", "Add", "Tanh", "Pow")  # the ops of one step, from the parameter to the loss
_SAVES = {"Mul": "x", "Tanh": "result", "Pow": "h"}  # what is saved, in the words of the program
_WIDTH, _LEFT, _APART, _DOWN = 620, 116, 130, 84
_BOX_WIDTH, _BOX_HEIGHT = 100, 42
_LINE = 21


@dataclass(frozen=True, slots=True)
class Op:
    """One node of PyTorch's graph."""

    name: str
    step: int
    leads_to: frozenset[tuple[str, int]]
    state: str  # "live", "freed", or "nothing": it saves none


@dataclass(frozen=True, slots=True)
class Moment:
    """The graph that the variables of a program lead to, once a line has been run."""

    line: int
    step: int
    ops: tuple[Op, ...]
    stopped: bool = False  # PyTorch raised in that line


@dataclass(frozen=True, slots=True)
class Picture:
    """A moment, and what is to be seen in it."""

    moment: Moment
    code: tuple[str, ...]  # the lines that are shown
    first: int  # the number of the first of them
    title: str
    lit: tuple[tuple[tuple[str, int], tuple[str, int]], ...] = ()  # the edges that a backward pass takes
    gone: tuple[Op, ...] = ()  # ops that nothing leads to any more


def pictures(program: str) -> dict[str, str]:
    """Every picture by the name of its file."""
    fixed = program.replace("+ h)", "+ h.detach())")
    kept = program.replace("backward()", "backward(retain_graph=True)")
    asked, forward, backward = moments(program), 9, 10
    drawn = {
        "created": _picture(program, asked[forward, 1], "Step 1: the forward pass has created a graph"),
        "freed": _picture(program, asked[backward, 1], "Step 1: backward() has used the saved values, and freed them"),
        "carried": _picture(program, asked[forward, 2], "Step 2: the new graph leads into the old one, through h"),
        "stopped": _lit(_picture(program, asked[backward, 2], "Step 2: backward() comes to what was freed, and stops")),
    }
    after = _picture(fixed, moments(fixed)[forward, 2], "Step 2, with the fix: the new graph ends where h was detached")
    drawn["detached"] = replace(after, gone=asked[backward, 1].ops)
    third = moments(kept)[backward, 3]
    drawn["retained"] = _lit(
        _picture(kept, third, "Step 3, with retain_graph=True: backward() goes through every step")
    )
    return {f"life-{name}.svg": _svg(name, each) for name, each in drawn.items()}


def moments(program: str) -> dict[tuple[int, int], Moment]:
    """By line and step: what is there when the line has been run."""
    names: dict[str, Any] = {}
    found: dict[tuple[int, int], Moment] = {}
    for statement in ast.parse(program).body:
        if not isinstance(statement, ast.For):
            _run(statement, names)
            continue
        assert isinstance(statement.target, ast.Name)
        steps: dict[int, int] = {}  # of ops, by the number that PyTorch gives them
        turns = eval(compile(ast.Expression(statement.iter), "<program>", "eval"), names)  # noqa: S307 # our own
        for step, value in enumerate(turns, 1):
            names[statement.target.id] = value
            for each in statement.body:
                try:
                    _run(each, names)
                except RuntimeError:
                    found[each.lineno, step] = Moment(each.lineno, step, _ops(names, steps, step), stopped=True)
                    return found
                found[each.lineno, step] = Moment(each.lineno, step, _ops(names, steps, step))
    return found


def _run(statement: ast.stmt, names: dict[str, Any]) -> None:
    exec(compile(ast.Module([statement], []), "<program>", "exec"), names)  # noqa: S102 # our own


def _ops(names: Mapping[str, Any], steps: dict[int, int], step: int) -> tuple[Op, ...]:
    """All that can be reached from the variables."""
    starts = [names[each].grad_fn for each in ("h", "loss") if each in names]
    nodes: dict[int, Any] = {}
    waiting = [each for each in starts if each is not None]
    while waiting:
        node = waiting.pop()
        if _name(node) in _COLUMNS and _number(node) not in nodes:
            nodes[_number(node)] = node
            steps.setdefault(_number(node), step)
            waiting += [each for each, _ in node.next_functions if each is not None]
    return tuple(
        Op(_name(node), steps[number], frozenset(_targets(node, steps)), _state(node))
        for number, node in sorted(nodes.items())
    )


def _targets(node: Any, steps: Mapping[int, int]) -> Iterator[tuple[str, int]]:  # noqa: ANN401 # a node of PyTorch
    for each, _ in node.next_functions:
        if each is not None:
            yield _name(each), steps.get(_number(each), 0)


def _number(node: Any) -> int:  # noqa: ANN401 # a node of PyTorch
    """PyTorch counts the ops as they are created."""
    number: int = node._sequence_nr()  # noqa: SLF001 # it has no other name
    return number


def _name(node: Any) -> str:  # noqa: ANN401 # a node of PyTorch
    name: str = node.name()
    return name.removesuffix("Backward0").rpartition("::")[2]


def _state(node: Any) -> str:  # noqa: ANN401 # a node of PyTorch
    import torch

    saved = False
    for name in dir(node):
        if name.startswith("_saved_"):
            try:
                saved = saved or isinstance(getattr(node, name), torch.Tensor)
            except RuntimeError:
                return "freed"
    return "live" if saved else "nothing"


def _picture(program: str, moment: Moment, title: str) -> Picture:
    lines = program.splitlines()
    first = next(number for number, line in enumerate(lines, 1) if line.startswith("for "))
    return Picture(moment, tuple(lines[first - 1 :]), first, title)


def _lit(picture: Picture) -> Picture:
    """With the path that the backward pass of this step takes, up to where it stops."""
    ops = {(each.name, each.step): each for each in picture.moment.ops}
    taken, waiting = [], [("Pow", picture.moment.step)]
    while waiting:
        at = waiting.pop()
        stops = picture.moment.stopped and ops[at].step < picture.moment.step
        for target in sorted(ops[at].leads_to) if not stops else ():
            taken.append((at, target))
            waiting += [target] if target in ops else []
    return replace(picture, lit=tuple(taken))


def _svg(name: str, picture: Picture) -> str:
    steps = max(each.step for each in (*picture.moment.ops, *picture.gone))
    code_height = _LINE * len(picture.code) + 22
    height = 34 + code_height + 26 + _DOWN * steps - 26
    size = f'viewBox="0 0 {_WIDTH} {height}" role="img"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" class="life" {size}>',
        f"<title>{escape(picture.title)}</title>",
        _STYLE,
        _tips(name),
        f'<rect class="card" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="10"/>',
        f'<text class="title" x="18" y="26">{escape(picture.title)}</text>',
        *_code(picture, 38),
        f'<g transform="translate(0 {34 + code_height + 26})">',
        *_edges(name, picture),
        *(_box(each, "gone") for each in picture.gone),
        *(_box(each, _look(each, picture)) for each in picture.moment.ops),
        *_labels(picture, steps),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _code(picture: Picture, top: int) -> Iterator[str]:
    height = _LINE * len(picture.code) + 16
    yield f'<rect class="code" x="14" y="{top}" width="{_WIDTH - 28}" height="{height}" rx="6"/>'
    for row, line in enumerate(picture.code):
        y = top + 8 + _LINE * row
        if picture.first + row == picture.moment.line:
            kind = "at stop" if picture.moment.stopped else "at"
            yield f'<rect class="{kind}" x="14" y="{y}" width="{_WIDTH - 28}" height="{_LINE}"/>'
            said = "RuntimeError" if picture.moment.stopped else f"step {picture.moment.step}"
            yield f'<text class="note" x="{_WIDTH - 24}" y="{y + 15}" text-anchor="end">{said}</text>'
        indent = len(line) - len(line.lstrip())  # as a place: blanks at the beginning are dropped by some renderers
        yield f'<text class="mono" x="{26 + 8 * indent}" y="{y + 15}">{escape(line.lstrip())}</text>'


def _look(op: Op, picture: Picture) -> str:
    old = op.step < picture.moment.step
    reached = any(target == (op.name, op.step) for _, target in picture.lit)
    return "stop" if picture.moment.stopped and old and reached else op.state


def _place(op: tuple[str, int]) -> tuple[float, float]:
    """The middle of its box."""
    name, step = op
    return _LEFT + _BOX_WIDTH / 2 + _APART * _COLUMNS.index(name), _DOWN * (step - 1) + _BOX_HEIGHT / 2


def _box(op: Op, look: str) -> str:
    x, y = _place((op.name, op.step))
    saves = _SAVES.get(op.name)
    below = {
        "live": f"saved: {saves}",
        "nothing": "saves nothing",
        "freed": "freed",
        "stop": "freed: error",
        "gone": "dropped",
    }[look]
    left, top = x - _BOX_WIDTH / 2, y - _BOX_HEIGHT / 2
    return (
        f'<g class="op {look}"><rect x="{left:g}" y="{top:g}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="8"/>'
        f'<text class="name" x="{x:g}" y="{y - 2:g}">{op.name}</text>'
        f'<text class="state" x="{x:g}" y="{y + 14:g}">{below}</text></g>'
    )


def _edges(name: str, picture: Picture) -> Iterator[str]:
    there = {(each.name, each.step) for each in picture.moment.ops}
    for op in (*picture.gone, *picture.moment.ops):
        for target in sorted(op.leads_to):
            start = (op.name, op.step)
            lit = (start, target) in picture.lit
            old = op in picture.gone and start not in there
            kind = "lit" if lit else "gone" if old else ""
            tip = f"{name}-{'lit' if lit else 'tip'}"
            yield f'<path class="edge {kind}" d="{_way(start, target)}" marker-end="url(#{tip})"/>'


def _way(start: tuple[str, int], target: tuple[str, int]) -> str:
    (x, y), half = _place(start), _BOX_WIDTH / 2
    if target[0] not in _COLUMNS:  # the parameter
        return f"M{x - half:g} {y:g}H{_LEFT - 40}"
    to_x, to_y = _place(target)
    if target[1] == start[1]:
        return f"M{x - half:g} {y:g}H{to_x + half + 3:g}"
    top, bottom = y - _BOX_HEIGHT / 2, to_y + _BOX_HEIGHT / 2 + 3
    middle = (top + bottom) / 2
    return f"M{x + 20:g} {top:g}C{x + 20:g} {middle:g} {to_x - 10:g} {middle:g} {to_x - 10:g} {bottom:g}"


def _labels(picture: Picture, steps: int) -> Iterator[str]:
    for step in range(1, steps + 1):
        y = _DOWN * (step - 1) + _BOX_HEIGHT / 2
        yield f'<text class="step" x="18" y="{y - 12:g}">step {step}</text>'
        yield f'<text class="mono" x="{_LEFT - 46}" y="{y + 5:g}" text-anchor="end">w</text>'
    last = max(each.step for each in picture.moment.ops)
    for column, name in ((2, "h"), (3, "loss")):
        x = _LEFT + _APART * column + _BOX_WIDTH - 4
        yield f'<text class="mono held" x="{x}" y="{_DOWN * (last - 1) - 5}" text-anchor="end">{name}</text>'


def _tips(name: str) -> str:
    size = 'markerWidth="11" markerHeight="11" markerUnits="userSpaceOnUse"'
    shape = f'viewBox="0 0 10 10" refX="8" refY="5" {size} orient="auto"'
    return (
        f'<defs><marker id="{name}-tip" {shape}><path class="tip" d="M0 0 10 5 0 10z"/></marker>'
        f'<marker id="{name}-lit" {shape}><path class="tip lit" d="M0 0 10 5 0 10z"/></marker></defs>'
    )


# The site puts pictures into its pages as they are, and says in `website/site.css` which of the two schemes holds.
_STYLE = """\
<style>
.life { --paper: #fbfcfe; --edge: #d5dbe6; --sunken: #eff2f7; --ink: #1b2230; --quiet: #55607a; --now: #dbe4fb;
  --live: #dcebfb; --live-edge: #2f6bb0; --freed-edge: #8a93a6; --red: #b3261e; --red-soft: #fbe3e1;
  font-family: system-ui, "Segoe UI", Roboto, Helvetica, Arial, "DejaVu Sans", sans-serif; font-size: 13px }
@media (prefers-color-scheme: dark) {
  .life { --paper: #171b22; --edge: #343b49; --sunken: #0f1217; --ink: #e4e8ef; --quiet: #a3aec2; --now: #28345c;
    --live: #1d3a5c; --live-edge: #7db4ee; --freed-edge: #7a8496; --red: #ff8a80; --red-soft: #482423 }
}
.life .card { fill: var(--paper); stroke: var(--edge) }
.life .code { fill: var(--sunken) }
.life .at { fill: var(--now) }
.life .at.stop { fill: var(--red-soft) }
.life text { fill: var(--ink) }
.life .title { font-weight: 650; font-size: 14.5px }
.life .mono { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 13.5px }
.life .held { font-weight: 700 }
.life .note, .life .step, .life .state { fill: var(--quiet); font-size: 12px }
.life .name { text-anchor: middle; font-weight: 650 }
.life .state { text-anchor: middle }
.life .op rect { fill: var(--live); stroke: var(--live-edge); stroke-width: 1.6 }
.life .op.nothing rect { fill: var(--paper) }
.life .op.freed rect, .life .op.gone rect { fill: none; stroke: var(--freed-edge); stroke-dasharray: 5 4 }
.life .op.gone { opacity: 0.55 }
.life .op.stop rect { fill: var(--red-soft); stroke: var(--red); stroke-dasharray: 5 4; stroke-width: 2.2 }
.life .op.stop .state { fill: var(--red); font-weight: 650 }
.life .edge { fill: none; stroke: var(--quiet); stroke-width: 1.6 }
.life .edge.lit { stroke: var(--red); stroke-width: 2.6 }
.life .edge.gone { opacity: 0.4 }
.life .tip { fill: var(--quiet) }
.life .tip.lit { fill: var(--red) }
</style>"""
