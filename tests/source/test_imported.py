"""One reader of imports: what they bind, and how a file says what it has imported."""

import ast

import pytest

from gradsan.source.imported import Import, all_imported, word_for

BINDINGS = {
    "import torch": Import("torch", "torch"),
    "import torch.nn": Import("torch", "torch"),
    "import torch.nn as nn": Import("nn", "torch.nn"),
    "from torch import nn": Import("nn", "torch", member="nn"),
    "from torch import nn as layers": Import("layers", "torch", member="nn"),
    "from . import model": Import("model", "", level=1, member="model"),
    "from .parts import *": Import("*", "parts", level=1, member="*"),
}


@pytest.mark.parametrize(("text", "expected"), BINDINGS.items(), ids=list(BINDINGS))
def test_an_import_binds_a_name(text: str, expected: Import) -> None:
    """`import a.b` binds `a`; with `as`, or of members, the name that is written last is bound."""
    assert list(all_imported(ast.parse(text))) == [expected]


WORDS = {
    "import torch": "torch.Tensor",
    "import torch.nn": "torch.Tensor",
    "import torch as t": "t.Tensor",
    "from torch import Tensor": "Tensor",
    "from torch import Tensor as T": "T",
    "import torch.nn as nn": None,
    "from .torch import Tensor": None,
}


@pytest.mark.parametrize(("text", "expected"), WORDS.items(), ids=list(WORDS))
def test_a_file_says_what_it_has_imported(text: str, expected: str | None) -> None:
    """A word is taken from the imports that are there; a module of the user's that is called alike is another one."""
    assert word_for(ast.parse(text), "torch", "Tensor") == expected
