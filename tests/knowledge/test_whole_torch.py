"""What torch has and no row speaks of: it must be what is assumed of an operation without a row."""

from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 # as everybody writes it
from torch import Tensor

from gradsan.knowledge.tensors import WHOLE_TYPES, edits, has_twin, operation, overwrites
from knowledge.measuring import Run, homes_of, tried
from knowledge.recipes import DEFAULTS, RECIPES, after

NAMES = sorted({name for home in (Tensor, torch, F) for name in dir(home) if name[:1].islower()})
METHODS = [name for name in NAMES if hasattr(Tensor, name)]
IN_PLACE = [name for name in METHODS if name.endswith("_")]

# They change torch itself, need another device, or are no operations.
_NOT_RUN = frozenset(
    """
    compile cond cuda fork from_dlpack init_num_threads initial_seed ipu load manual_seed mtia save seed vmap wait
    while_loop xpu backward set_default_device set_default_dtype set_default_tensor_type set_num_threads
    use_deterministic_algorithms
    """.split()
)
_PREFIXES_NOT_RUN = (
    "set_", "get_", "import_", "autocast", "is_", "cudnn", "miopen", "mkldnn", "fbgemm", "sym_", "quantize",
)  # fmt: skip
# They are not what is assumed, and no reader asks about them.
WITHOUT_ROW = frozenset(
    """
    alias_copy alpha_dropout atleast_3d binomial cdouble cfloat chain_matmul chalf dequantize detach_copy diagonal_copy
    feature_alpha_dropout fill geqrf gradient hash_tensor histogram matrix_power module_load new random resize_as
    select_copy slice_copy slice_inverse slice_scatter squeeze_copy t_copy transpose_copy unbind_copy
    unique_consecutive unsqueeze_copy
    """.split()
)


def unlisted() -> Iterator[tuple[str, Run]]:
    """Every operation that runs with the usual arguments and has no row."""
    for name in NAMES:
        if (
            not operation(name).is_assumed
            or name in _NOT_RUN
            or name.startswith(_PREFIXES_NOT_RUN)
            or name.endswith("_")
        ):
            continue
        for home, function in homes_of(name).items():
            runs = (tried(home, function, recipe) for recipe in RECIPES.get(name, DEFAULTS))
            run = next((each for each in runs if each is not None and each.operands), None)
            if run is not None:
                yield name, run


def is_as_assumed(run: Run) -> bool:
    """It keeps the graph, gives new memory and saves something."""
    if not run.tensors or run.tensors[0].layout is not torch.strided:
        return True  # no operation on tensors, or none that anybody has a table for
    return run.keeps_graph and not run.shares_memory and run.saves


@pytest.mark.skipif(tuple(map(int, torch.__version__.split(".")[:2])) < (2, 13), reason="the rows are those of 2.13")
def test_operations_without_a_row_are_what_is_assumed_of_them() -> None:
    """A missing row is no gap where nothing would stand in it."""
    found = {name for name, run in unlisted() if not is_as_assumed(run)}

    assert found == WITHOUT_ROW


@pytest.mark.parametrize("name", IN_PLACE)
def test_names_of_methods_say_which_edits_are_counted(name: str) -> None:
    """An underscore at the end is an edit that moves the version, but for a few."""
    moved = [after - before for before, after in versions(name)]
    if not moved:
        pytest.skip("it takes none of the usual arguments")

    assert edits(name) == (name == "resize_as_" or any(moved))  # it was given its own size


def versions(name: str) -> Iterator[tuple[int, int]]:
    """How often a tensor had been edited before a method and after it, with the first arguments that it takes."""
    for recipe in (
        *RECIPES.get(name, ()),
        *RECIPES.get(name.removesuffix("_"), ()),
        *DEFAULTS,
        after(torch.ones(3), abs),
    ):
        given = [each.detach().clone() if isinstance(each, Tensor) else each for each in recipe()]
        tensor = given[0] if isinstance(given[0], Tensor) else torch.ones(3)
        before = tensor._version  # noqa: SLF001 # torch has no public name for it
        try:
            getattr(tensor, name)(*given[1:])
        except (TypeError, RuntimeError, ValueError, IndexError):
            continue
        yield before, tensor._version  # noqa: SLF001 # likewise
        return


@pytest.mark.parametrize("name", [name for name in IN_PLACE if edits(name)])
def test_twin_of_an_edit_is_a_method(name: str) -> None:
    """A fix writes `x = x.add(1)` for `x.add_(1)`: there has to be an `add`."""
    assert has_twin(name) == callable(getattr(Tensor, name.removesuffix("_"), None))


@pytest.mark.parametrize("name", [name for name in IN_PLACE if overwrites(name)])
def test_what_is_overwritten_leaves_no_trace(name: str) -> None:
    """The same new values, whatever was there."""
    arguments = {"fill_": (0.5,), "geometric_": (0.5,)}.get(name, ())

    def new(old: Tensor) -> Tensor:
        torch.manual_seed(0)
        return getattr(old, name)(*arguments)  # type: ignore[no-any-return]

    assert torch.equal(new(torch.zeros(3)), new(torch.ones(3)))


@pytest.mark.parametrize("name", sorted(WHOLE_TYPES))
def test_whole_types_have_no_gradients(name: str) -> None:
    """What is converted to them ends a graph."""
    assert not torch.ones(1, requires_grad=True).to(getattr(torch, name)).requires_grad
