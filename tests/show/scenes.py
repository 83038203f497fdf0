"""Reports made by hand, as the entry points would make them."""

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
    message="`self.hidden` still carries the graph of step 1 into the forward of step 2",
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
            title="detach the state between steps: the gradient stops at the step's boundary (truncated BPTT)",
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
        Fix("retain-graph", "keep the graph of every step", "changes-gradients", verified=False),
    ),
)

# Both passes are the same line of a wrapper; only the calls that led there tell them apart.
WRAPPED = Diagnosis(
    code="GS102",
    name="shared-forward",
    severity="error",
    origin="run",
    confidence="likely",
    message="`features` is part of two losses, and the first pass freed it",
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
    message="`retain_graph=True` keeps a graph that no later pass walks",
    used=at("a_rather_long_name_of_a_training_script.py", 7, "loss.backward(retain_graph=True)"),
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
