"""What operations do, as the checker sees it in the smallest programs: each was once known wrong, or is a near miss."""

import warnings
from importlib.util import find_spec

import pytest

from gradsan.check.reading import check_content

WEIGHT = "import torch\nfrom torch import nn\nw = torch.tensor([0.25, 0.75], requires_grad=True)\n"
EDITED = "modified by an inplace operation"
CELL = """
cell = nn.{kind}(2, 2)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
x = torch.ones(3, 2)
one, two = {one}.sum(), {two}.sum()
one.backward()
opt.step()
two.backward()
"""


def codes(program: str) -> list[str]:
    """What the checker finds."""
    return [each.code for each in check_content("program.py", program.encode()).diagnoses]


def fails_with(program: str, error: str | None) -> bool:
    """Whether PyTorch raises this error, or none; where it is not installed, that is believed."""
    if find_spec("torch") is None:
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(program, "program.py", "exec"), {})  # noqa: S102 # a program of this file
    except RuntimeError as raised:
        return error is not None and error in str(raised)
    return error is None


@pytest.mark.parametrize(
    "step",
    [
        *(f"w.mul(1.5).{name}().sum().backward()" for name in ("round", "floor", "ceil", "sign", "trunc")),
        *(f"torch.{name}(w * 1).sum().backward()" for name in ("round", "floor", "ceil", "sign", "trunc")),
        "torch.bernoulli(w).sum().backward()",
        "torch.poisson(w).sum().backward()",
        "torch.normal(w, w).sum().backward()",
        "torch.meshgrid(w, w, indexing='ij')[0].sum().backward()",
        "w.unsqueeze(0).to(torch.float64).sum().backward()",
    ],
)
def test_what_keeps_the_graph_is_no_cut(step: str) -> None:
    """Its gradient may be 0 everywhere: the pass runs."""
    assert codes(WEIGHT + step) == []
    assert fails_with(WEIGHT + step, None)


@pytest.mark.parametrize(
    "step",
    [
        "w.mul(1.5).long().float().sum().backward()",
        "w.mul(1.5).to(torch.long).float().sum().backward()",
        "w.mul(1.5).type(torch.int32).float().sum().backward()",
        "w.mul(1.5).argmax().float().backward()",
        "torch.isnan(w * 1).float().sum().backward()",
        "(w * 1).isnan().float().sum().backward()",
        "torch.tensor([(w * 1).sum()]).sum().backward()",
    ],
)
def test_what_has_no_derivative_is_a_cut(step: str) -> None:
    """Near misses: whole numbers and truth values have no graph."""
    assert codes(WEIGHT + step) == ["GS203"]
    assert fails_with(WEIGHT + step, "does not require grad")


@pytest.mark.parametrize(
    ("result", "found"),
    [
        ("(w * 1).max(0)[0]", []),
        ("(w * 1).pow(2)", []),
        ("(w * 1).sort()[0]", []),
        ("(w * 1).exp()", ["GS202"]),
        ("(w * 1).sigmoid()", ["GS202"]),
    ],
)
def test_result_may_be_edited_unless_it_is_saved(result: str, found: list[str]) -> None:
    """`max` keeps where the largest was, `exp` what it gave."""
    program = f"{WEIGHT}y = {result}\ny += 1\ny.sum().backward()\n"

    assert codes(program) == found
    assert fails_with(program, EDITED if found else None)


@pytest.mark.parametrize(
    ("kind", "call", "found"),
    [
        ("GRUCell", "cell(x)", []),
        ("GRU", "cell(x)[0]", ["GS201"]),
    ],
)
def test_step_before_a_pass_hurts_where_the_weight_is_saved(kind: str, call: str, found: list[str]) -> None:
    """A cell saves its weight for the gradient of what comes in, and data has none; a whole recurrence saves it."""
    program = WEIGHT + CELL.format(kind=kind, one=call, two=call)

    assert codes(program) == found
    assert fails_with(program, EDITED if found else None)


@pytest.mark.parametrize(
    ("kind", "state", "found"),
    [
        ("RNNCell", "state", ["GS201"]),
        ("GRUCell", "state", ["GS201"]),
        ("RNNCell", "state.detach()", []),
        ("GRUCell", "torch.zeros(3, 2)", []),
    ],
)
def test_state_of_a_cell_has_a_graph_from_the_second_iteration_on(kind: str, state: str, found: list[str]) -> None:
    """So the weight is saved from then on, and the pass after the next step fails; not where the state is cut."""
    program = f"""{WEIGHT}
cell = nn.{kind}(2, 2)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
state = torch.zeros(3, 2)
for _ in range(4):
    state = cell(torch.ones(3, 2), {state})
    opt.zero_grad()
    state.sum().backward({"retain_graph=True" if found else ""})
    opt.step()
"""

    assert codes(program) == found
    assert fails_with(program, EDITED if found else None)
