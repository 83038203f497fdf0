"""Private names of PyTorch are looked for, and what is missing is said."""

from types import ModuleType

import torch

from gradsan.observe.private import creation_number, private, probe


def test_this_torch_has_everything() -> None:
    """The versions that gradsan is tested with."""
    found = private()

    assert found.missing == ()
    assert found.op_counter is not None
    assert found.engine_owner is torch.autograd


def test_counter_is_the_number_of_the_next_op() -> None:
    """What the whole log rests on."""
    counter = private().op_counter
    assert counter is not None
    x = torch.ones(2, requires_grad=True)

    number = counter()
    y = x * 2

    assert creation_number(y.grad_fn) == number
    assert counter() == number + 1


def test_leaf_accumulator_has_no_number() -> None:
    """It is made once a parameter, by whoever comes first."""
    y = torch.ones(2, requires_grad=True) * 2

    assert y.grad_fn is not None
    assert creation_number(y.grad_fn.next_functions[0][0]) is None


def test_saved_values_are_named_without_being_read() -> None:
    """Reading would run hooks."""
    x = torch.ones(2, requires_grad=True)
    y = x * x
    y.sum().backward()

    assert {"_saved_self", "_saved_other"} <= set(dir(y.grad_fn))


def test_each_missing_name_is_a_sentence() -> None:
    """An old or changed torch."""
    bare = ModuleType("torch")
    bare.__version__ = "2.1.0+cpu"  # type: ignore[attr-defined]

    found = probe(bare)

    assert found.op_counter is None
    assert found.engine_owner is None
    assert [each.split(":")[0] for each in found.missing] == [
        "torch 2.1.0+cpu is older than 2.4, the oldest that gradsan knows",
        "torch 2.1.0+cpu has no op counter",
        "torch 2.1.0+cpu has no _engine_run_backward",
        "torch 2.1.0+cpu does not number running passes",
        "ops of torch 2.1.0+cpu have no creation number",
    ]
