"""Which expressions cut a graph, and how that is written; the near misses keep it."""

import ast

import pytest

from gradsan.observe.naming.cuts import cut_at


@pytest.mark.parametrize(
    ("expression", "written", "how"),
    [
        ("x.detach()", ".detach()", "detach"),
        ("x.data", ".data", "data"),
        ("x.item()", ".item()", "number"),
        ("x.cpu().numpy()", ".numpy()", "numpy"),
        ("np.mean(x)", "np.mean(…)", "numpy"),
        ("float(x)", "float(…)", "number"),
        ("math.exp(x)", "math.exp(…)", "number"),
        ("math.floor(x)", "math.floor(…)", None),
        ("int(x)", "int(…)", None),
        ("torch.tensor(losses)", "torch.tensor(…)", "new-tensor"),
        ("torch.FloatTensor(losses)", "torch.FloatTensor(…)", "new-tensor"),
        ("x.argmax(1)", ".argmax()", None),
        ("torch.argmax(x)", "torch.argmax()", None),
        ("F.one_hot(x)", "F.one_hot()", None),
        ("x.to(torch.long)", ".to(…)", None),
        ("policy.sample()", ".sample()", None),
        ("a > b", "a comparison", None),
    ],
)
def test_cut_is_written_and_named(expression: str, written: str, how: str | None) -> None:
    """What hands over values has a name in reports; a decision has none."""
    cut = cut_at(ast.parse(expression, mode="eval").body)

    assert cut is not None
    assert (cut.written, cut.how) == (written, how)


@pytest.mark.parametrize(
    "expression",
    [
        "x.round()",
        "torch.floor(x)",
        "x.sign().mean()",
        "torch.bernoulli(x)",
        "torch.unique(x)",
        "x.to(torch.float32)",
        "x.cpu()",
        "x.clone()",
        "torch.as_tensor(x)",
        "policy.rsample()",
        "torch.autograd.grad(y, x, create_graph=True)",
    ],
)
def test_what_keeps_the_graph_is_no_cut(expression: str) -> None:
    """It may have no gradient to speak of: a pass walks it all the same."""
    assert cut_at(ast.parse(expression, mode="eval").body) is None
