"""Silent problems in source: what every path shows is a fact; one path that shows otherwise is enough to drop it."""

from pathlib import Path

import pytest

from gradsan.check.reading import check_content
from gradsan.report import Diagnosis

LOOP = """\
import torch

model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.ones(8, 3).split(2)
"""


def found(program: str) -> list[Diagnosis]:
    """What a check of this program reports."""
    path = Path("program.py").resolve()
    return list(check_content(str(path), (LOOP + program).encode()).diagnoses)


PAIRS = {
    "GS301": (
        """\
history = []
for batch in data:
    loss = model(batch).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(loss)
""",
        ("history.append(loss)", "history.append(loss.item())"),
    ),
    "GS302": (
        """\
for batch in data:
    loss = model(batch).square().mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
""",
        ("    opt.step()\n", "    if len(batch) > 1:\n        loss.backward()\n    opt.step()\n"),
    ),
    "GS303": (
        """\
for batch in data:
    model(batch).square().mean().backward()
    opt.step()
""",
        ("    opt.step()\n", "    opt.step()\n    if len(batch) > 1:\n        opt.zero_grad()\n"),
    ),
    "GS304": (
        """\
for batch in data:
    loss = model(batch).square().mean()
opt.zero_grad()
loss.backward()
opt.step()
""",
        ("mean()\n", "mean()\n    if len(batch) > 1:\n        loss.backward(retain_graph=True)\n"),
    ),
    "GS305": (
        """\
centre = torch.zeros(1)
for batch in data:
    centre = 0.9 * centre + 0.1 * model(batch).mean(0)
    opt.zero_grad()
    centre.sum().backward(retain_graph=True)
    opt.step()
""",
        ("0.9 * centre", "0.9 * centre.detach()"),
    ),
    "GS306": (
        """\
head = torch.nn.Linear(1, 1)
both = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
for batch in data:
    code = model(batch).detach()
    both.zero_grad()
    head(code).square().mean().backward()
    both.step()
""",
        (
            "    both.zero_grad()\n",
            "    both.zero_grad()\n    if len(batch) > 1:\n        model(batch).mean().backward()\n",
        ),
    ),
    "GS307": (
        """\
for batch in data:
    opt.zero_grad()
    model(batch).square().mean().backward()
    opt.step()
    penalty = model.weight.square().sum()
    penalty.backward()
""",
        ("    penalty.backward()\n", "    penalty.backward()\n    if len(batch) > 1:\n        opt.step()\n"),
    ),
    "GS308": (
        """\
base, shift = torch.nn.Parameter(torch.zeros(3)), torch.nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([base, shift], lr=0.1)
point = base + shift
for batch in data:
    opt.zero_grad()
    (point - batch).square().sum().backward()
    opt.step()
""",
        ("    opt.step()\n", "    opt.step()\n    point = base + shift\n"),
    ),
}


@pytest.mark.parametrize("code", PAIRS)
def test_fact_of_every_path_is_recognised(code: str) -> None:
    """And in the near miss, in which some path shows that it is not so, nothing is said."""
    program, (old, new) = PAIRS[code]

    assert [each.code for each in found(program)] == [code]
    assert old in program
    assert code not in [each.code for each in found(program.replace(old, new))]


def test_sentence_of_a_source_has_no_numbers_of_a_run() -> None:
    """Nobody has counted."""
    (leak,) = found(PAIRS["GS301"][0])

    assert leak.message == "`history` keeps the graphs of all steps so far, and more with every step"
    assert (leak.evidence, leak.count, leak.origin) == ({}, 1, "check")


def test_total_of_losses_that_passes_took_is_kept_as_a_number() -> None:
    """It is no measuring: the first fix is the one that a run asks for."""
    (leak,) = found(
        PAIRS["GS301"][0].replace("history = []", "total = 0.0").replace("history.append(loss)", "total += loss")
    )

    assert [each.kind for each in leak.fixes] == ["item", "detach", "no-grad"]


@pytest.mark.parametrize(
    ("header", "first"),
    [
        ("for epoch in range(3):\n    for batch in data:\n", "move-into-loop"),
        ("for batch in data:\n    for view in (batch, batch + 1):\n", "combine-losses"),
    ],
)
def test_loop_over_views_of_a_batch_is_of_one_step(header: str, first: str) -> None:
    """Its losses are terms of one; a loop over batches has a step for each."""
    taken = "view" if "view" in header else "batch"
    program = (
        f"{header}        loss = model({taken}).square().mean()\n"
        "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
    )

    (dropped,) = found(program)

    assert (dropped.code, dropped.fixes[0].kind) == ("GS304", first)


def test_targets_computed_once_are_detached_as_a_run_has_it() -> None:
    """What the loss compares with, while this iteration's forward trains the same parameters, is to be a constant."""
    (once,) = found(
        """\
targets = model(torch.ones(2, 3)).tanh()
for batch in data:
    opt.zero_grad()
    (model(batch) - targets).square().mean().backward()
    opt.step()
"""
    )

    assert (once.code, [each.kind for each in once.fixes]) == ("GS104", ["detach", "no-grad", "move-into-loop"])
