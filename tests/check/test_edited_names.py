"""An in-place edit is told with the name of what was edited."""

import pytest

from gradsan.check.reading import check_content

PROGRAM = """
import torch
from torch import nn

layer, weight = nn.Linear(4, 4), nn.Parameter(torch.ones(4))
h = torch.sigmoid(layer(torch.randn(2, 4)))
y = h * weight
{edit}
(y + h).sum().backward()
"""


@pytest.mark.parametrize("edit", ["h += 1", "h[0] = 0", "h.add_(1)", "h[:, 1].zero_()"])
def test_culprit_of_an_edit_is_the_tensor_that_is_edited(edit: str) -> None:
    """Not the name of what was computed from it."""
    (found,) = check_content("program.py", PROGRAM.format(edit=edit).encode()).diagnoses

    assert (found.code, found.culprit and found.culprit.name) == ("GS202", "h")
