"""Reports made by hand, as the entry points would make them."""

from dataclasses import replace

from gradsan.facts.location import Frame, Location
from gradsan.report import Culprit, Diagnosis, Edit, Effects, Fix, PathOp, RaisedError, Report, Summary


def at(file: str, line: int, source: str, step: int | None = None, stack: tuple[Frame, ...] = ()) -> Location:
    """A place in somebody's program."""
    return Location(file, line, 1, line, len(source) + 1, "train", source, step, stack)


CARRIED = Diagnosis(
    code="GS103",
    name="carried-state",
    severity="error",
    origin="run",
    confidence="certain",
    message="`self.hidden` still has the graph of an earlier step, and the backward() of that step freed it",
    fingerprint="6f1c",
    error=RaisedError("RuntimeError", "Trying to backward through the graph a second time (…)"),
    made=at("model.py", 31, "self.hidden = self.cell(x, self.hidden)", step=1),
    freed=at("train.py", 58, "loss.backward()", step=1),
    enters=at("model.py", 31, "self.hidden = self.cell(x, self.hidden)", step=2),
    used=at("train.py", 58, "loss.backward()", step=2),
    culprit=Culprit("self.hidden", "attribute"),
    path=(
        PathOp("MseLossBackward0", "live"),
        PathOp("AddmmBackward0", "live", "head"),
        PathOp("TanhBackward0", "freed", "cell"),
        PathOp("TanhBackward0", "freed", "cell"),
    ),
    evidence={"freed_ops": 14, "saved_bytes": 3_200_000},
    notes=("`self.hidden.detach()` at model.py:40 has no effect: its result is dropped",),
    fixes=(
        Fix(
            kind="detach",
            title="detach `self.hidden` between the steps: its values stay, its graph is dropped",
            safety="changes-gradients",
            edits=(
                Edit(
                    file="model.py",
                    line=31,
                    end_line=31,
                    old="self.hidden = self.cell(x, self.hidden)",
                    new="self.hidden = self.cell(x, self.hidden.detach())",
                ),
            ),
            diff=(
                "model.py:31\n"
                "-  self.hidden = self.cell(x, self.hidden)\n"
                "+  self.hidden = self.cell(x, self.hidden.detach())\n"
            ),
            effects=Effects(saved_bytes=3_200_000),
            verified=True,
        ),
        Fix(
            "retain-graph",
            "pass `retain_graph=True` to every backward() except the last",
            "changes-gradients",
            verified=False,
        ),
    ),
)

# Both passes are the same line of a wrapper; only the calls that led there tell them apart.
WRAPPED = Diagnosis(
    code="GS102",
    name="shared-forward",
    severity="error",
    origin="run",
    confidence="likely",
    message="`features` is part of two losses, and the first backward() freed the graph that they share",
    freed=at("trainer.py", 12, "loss.backward()", stack=(Frame("train.py", 40, "main"), Frame("trainer.py", 12, "go"))),
    used=at("trainer.py", 12, "loss.backward()", stack=(Frame("train.py", 41, "main"), Frame("trainer.py", 12, "go"))),
    path=tuple(PathOp(f"Op{number}Backward0", "live") for number in range(4)),
    elided=17,
)

NEEDLESS = Diagnosis(
    code="GS302",
    name="needless-retain",
    severity="warning",
    origin="check",
    confidence="likely",
    message="`retain_graph=True` keeps the graph of `loss`, and no later backward() uses it",
    used=at("a_rather_long_name_of_a_training_script.py", 7, "loss.backward(retain_graph=True)"),
)

# Both losses are computed before the first backward(): it is used before it is freed.
SHARED = Diagnosis(
    code="GS102",
    name="shared-forward",
    severity="error",
    origin="run",
    confidence="certain",
    message="`features` is part of two losses, and the first backward() freed the graph that they share",
    made=at("train.py", 8, "features = trunk(x).relu()"),
    enters=at("train.py", 10, "loss_b = head_b(features).square().mean()"),
    freed=at("train.py", 12, "loss_a.backward()"),
    used=at("train.py", 13, "loss_b.backward()"),
    fixes=(
        Fix(
            kind="combine-losses",
            title="add the losses, and call backward() once, on the sum",
            safety="same-gradients",
            edits=(
                Edit(
                    file="train.py",
                    line=12,
                    end_line=13,
                    old="    loss_a.backward()\n    loss_b.backward()",
                    new="    (loss_a + loss_b).backward()",
                ),
            ),
            effects=Effects(saved_bytes=900, parameters_cut_off=("trunk.weight",)),
        ),
        Fix("retain-graph", "pass `retain_graph=True` to `loss_a.backward()` (train.py:12)", "same-gradients"),
    ),
)

# A value is changed after an op has saved it: three places, and an edit that adds a line.
EDITED = Diagnosis(
    code="GS202",
    name="inplace-edit",
    severity="error",
    origin="run",
    confidence="certain",
    message="`out` was changed in place after an op had saved it for backward()",
    made=at("train.py", 6, "out = net(batch)"),
    changed=at("train.py", 7, "out[out < 0.5] = 0"),
    used=at("train.py", 11, "loss.backward()"),
    fixes=(
        Fix(
            kind="clone",
            title="do not change `out` in place: create a new tensor, or change a copy (`.clone()`)",
            safety="same-gradients",
            edits=(Edit("train.py", 7, 7, "    out[out < 0.5] = 0", "    out = out.clone()\n    out[out < 0.5] = 0"),),
        ),
    ),
)

# A loss without a graph, from source, in two files.
LOST = Diagnosis(
    code="GS203",
    name="lost-graph",
    severity="error",
    origin="check",
    confidence="likely",
    message="`losses` has no graph: `.item()` cut it off from the parameters",
    cut=at("metrics.py", 7, "losses.append(criterion(net(x), y).item())"),
    used=at("train.py", 112, "torch.stack(losses).mean().backward()"),
    fixes=(
        Fix(
            kind="re-attach",
            title="remove or replace what cuts the graph: `losses.append(criterion(net(x), y).item())` (metrics.py:7)",
            safety="changes-gradients",
            edits=(
                Edit(
                    "metrics.py",
                    7,
                    7,
                    "losses.append(criterion(net(x), y).item())",
                    "losses.append(criterion(net(x), y))",
                ),
            ),
        ),
        Fix("advice", "compute `losses` with torch operations, from tensors that require a gradient", "same-gradients"),
    ),
)

# A silent problem that costs memory, with a fix in two files.
LEAK = Diagnosis(
    code="GS301",
    name="graph-leak",
    severity="warning",
    origin="run",
    confidence="certain",
    message="`history` keeps the graphs of 1,200 steps, and more with every step",
    made=at("train.py", 9, "loss = net(x).square().mean()"),
    held=at("log.py", 14, "history.append(value)"),
    evidence={"ops": 8400, "saved_bytes": 91_000_000},
    fixes=(
        Fix(
            kind="item",
            title="put only the number into `history`: `.item()`",
            safety="same-gradients",
            edits=(
                Edit("log.py", 14, 14, "    history.append(value)", "    history.append(float(value))"),
                Edit("train.py", 15, 15, "    log(loss)", "    log(loss.item())"),
            ),
        ),
        Fix("detach", "detach what is put into `history`: its values stay, its graph is dropped", "same-gradients"),
        Fix("no-grad", "compute what is put into `history` under `torch.no_grad()`", "same-gradients"),
    ),
)

# A silent problem that trains something else; its places stand in an order of their own.
PILED = Diagnosis(
    code="GS303",
    name="missing-zero-grad",
    severity="warning",
    origin="run",
    confidence="likely",
    message="Every step of `opt` also uses the gradients of the steps before: nothing clears them",
    changed=at("train.py", 8, "opt.step()"),
    used=at("train.py", 7, "loss.backward()"),
    fixes=(Fix("zero-grad", "call `opt.zero_grad()` in every step, before backward()", "changes-gradients"),),
)

# What is no program: one place, and nothing to write.
UNREADABLE = Diagnosis(
    code="GS001",
    name="unreadable",
    severity="error",
    origin="check",
    confidence="certain",
    message="this file was not checked: it is not Python that this version reads: '(' was never closed",
    used=at("old/train.py", 3, "print(loss"),
)

# Letters that take two columns, and that a C locale does not have.
FOREIGN = replace(
    CARRIED,
    message="`隠れ状態` still has the graph of an earlier step, and the backward() of that step freed it",
    made=at("modèle.py", 31, "隠れ状態 = cell(x, 隠れ状態)  # 状態を次のステップへ渡す、そのまま", step=1),
    enters=at("modèle.py", 31, "隠れ状態 = cell(x, 隠れ状態)  # 状態を次のステップへ渡す、そのまま", step=2),
    notes=(),
    fixes=(),
)


def report(*diagnoses: Diagnosis, summary: Summary | None = None) -> Report:
    """A report of these."""
    return Report(
        gradsan="0.1.0",
        python="3.11.7",
        torch="2.13.0",
        argv=("train.py",),
        summary=summary,
        diagnoses=diagnoses,
    )
