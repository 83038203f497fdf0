"""Every row about torch is run against torch: a release that changes what an operation does makes a test fail."""

import pytest
import torch
from torch import Tensor

from gradsan.knowledge.operation import Operation
from gradsan.knowledge.tensors import TABLE
from knowledge.measuring import Run, homes_of, runs_of

NEEDS_A_DEVICE = {"cuda"}
ROWS = {row.name: row for row in TABLE}
KEEPING = [name for name, row in ROWS.items() if row.graph == "keeps" and name not in NEEDS_A_DEVICE]
LENGTHS = {"pair": 2, "triple": 3}
# What they draw from is a sum: mean + deviation · noise.
DRAWN = {"normal"}


def test_no_name_has_two_rows() -> None:
    """One name, one row."""
    assert len(ROWS) == len(TABLE)


@pytest.mark.parametrize("name", [name for name in ROWS if hasattr(Tensor, name)])
def test_row_says_what_is_read_and_not_called(name: str) -> None:
    """`x.T` and `x.t()`."""
    assert ROWS[name].attribute != callable(getattr(Tensor, name))


@pytest.mark.parametrize("name", ROWS)
def test_row_says_what_becomes_of_the_graph(name: str) -> None:
    """Keeps, drops, ends, creates, builds or describes: in every place in which torch has the operation."""
    if name in NEEDS_A_DEVICE:
        pytest.skip(f"`{name}` needs a device that is not here")
    if not homes_of(name):
        pytest.skip(f"this torch has no `{name}`")
    runs = runs_of(name)

    assert runs, "no arguments are known for it: tests/knowledge/recipes.py"
    for run in runs:
        check_graph(ROWS[name], run)


def check_graph(row: Operation, run: Run) -> None:
    """What is given back, and whether it has a graph."""
    assert run.keeps_graph == (row.graph == "keeps"), run.home
    match row.graph:
        case "keeps":
            assert run.operands
        case "creates" | "builds":
            assert all(not each.requires_grad for each in run.tensors)
        case "describes":
            assert not run.tensors
        case "ends" if run.tensors:
            assert not run.tensors[0].is_floating_point() or row.name == "histc"
        case "drops" if run.tensors and run.operands:
            assert run.tensors[0].tolist() == run.operands[0].tolist()


@pytest.mark.parametrize("name", [name for name in ROWS if name not in NEEDS_A_DEVICE])
def test_row_says_what_is_given_back(name: str) -> None:
    """A tensor, several, a number, or another object."""
    row = ROWS[name]
    for run in runs_of(name):
        match row.returns:
            case "tensor":
                assert isinstance(run.result, Tensor)
            case "tensors":
                assert isinstance(run.result, tuple | list)
            case "pair for a dimension":
                assert len(run.tensors) == len(run.given)  # a dimension was given, or none
            case "number":
                assert isinstance(run.result, float)
            case "object":
                assert not isinstance(run.result, Tensor)
            case _:
                assert len(run.tensors) == LENGTHS[row.returns]


@pytest.mark.parametrize("name", [name for name in ROWS if name not in NEEDS_A_DEVICE])
def test_row_says_whose_memory_the_result_has(name: str) -> None:
    """Storage tells a view from a copy, and identity a tensor that is handed back."""
    row = ROWS[name]
    for run in runs_of(name):
        if row.returns in ("number", "object") or not isinstance(run.first, Tensor):
            continue
        match row.memory:
            case "new":
                assert not run.shares_memory, run.home
            case "copy":
                assert not run.shares_memory
                assert run.holds_the_same_values
            case "shared" | "shared if possible":
                assert run.shares_memory, run.home
                assert run.result is not run.first
            case _:
                assert run.result is run.first, run.home


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.memory == "shared if possible"])
def test_what_shares_if_possible_copies_where_it_cannot(name: str) -> None:
    """A tensor whose memory is in another order has to be copied into the new shape."""
    run = runs_of(name)[0]
    if run.home == "aten":
        pytest.skip("an op of torch's own, which only gets what it can share")

    mixed, operands = run.again(lambda place, each: each.mT.contiguous().mT if place == 0 else each)

    assert mixed.tensors[0].untyped_storage().data_ptr() != operands[0].untyped_storage().data_ptr()


@pytest.mark.parametrize("name", [name for name in KEEPING if not ROWS[name].memory.startswith("itself")])
def test_row_says_what_is_saved(name: str) -> None:
    """What a pass frees, and which tensors must not be edited before it: what all forms of the operation save."""
    row, runs = ROWS[name], runs_of(name)
    products = [run for run in runs if len(run.operands) > 1]

    assert {row.saves} == {run.saves for run in runs}
    assert row.inputs == common([(run.inputs, len(run.operands)) for run in runs])
    assert all(row.factors == run.factors for run in products)
    assert row.saves_result == all(run.saves_result for run in runs)


def common(found: list[tuple[tuple[int, ...], int]]) -> tuple[int, ...]:
    """The operands that are saved in every form that has them."""
    most = max(count for _, count in found)
    return tuple(each for each in range(most) if all(each in saved for saved, count in found if each < count))


@pytest.mark.parametrize("name", [name for name in KEEPING if not ROWS[name].memory.startswith("itself")])
def test_row_says_what_is_linear(name: str) -> None:
    """A term of a total is still a term behind what adds up or scales."""
    row = ROWS[name]
    if name in {"bernoulli", "cholesky", "logdet"}:
        pytest.skip("defined for some values only")
    for run in runs_of(name):
        if row.linear == "scales":
            assert run.is_additive(first_only=True)
        elif name not in DRAWN:
            assert run.is_additive(first_only=False) == (row.linear == "adds"), run.home


@pytest.mark.parametrize("name", KEEPING)
def test_row_says_what_gives_one_number(name: str) -> None:
    """With as many arguments as the row says, and no dimension among them."""
    row = ROWS[name]
    for run in runs_of(name):
        if row.returns == "tensor" and row.reduces:
            assert run.tensors[0].numel() == 1
            assert len(run.given) <= row.reduces
        elif row.returns == "tensor" and run.operands[0].numel() > 1:
            assert run.tensors[0].numel() > 1, run.home


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.contracts])
def test_row_says_what_contracts(name: str) -> None:
    """An element of the result takes several of each of two operands; a row of a table is one of its products."""
    for run in runs_of(name):
        if name == "embedding":
            chosen = torch.nn.functional.one_hot(torch.tensor([0, 2]), 3).float()
            assert torch.equal(run.result, chosen @ run.operands[0])
        else:
            assert run.operands_in_an_element > 1
