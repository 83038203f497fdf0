"""A rule of the checker: a sentence, programs that fall under it, and one that only looks so."""

from dataclasses import dataclass
from textwrap import dedent

from gradsan.check.reading import check_content

_BEGIN = """
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(4, 4)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8, 4)
"""


@dataclass(frozen=True)
class Rule:
    """What is found in some programs, and not in the one beside them."""

    sentence: str
    code: str
    found: tuple[str, ...]
    near_miss: str

    def __str__(self) -> str:
        return self.sentence.replace(" ", "-")


def codes(program: str, begin: str = _BEGIN) -> list[str]:
    """What is found in a program, after a model, an optimizer and data were made."""
    checked = check_content("program.py", (begin + dedent(program)).encode())
    assert checked.problem is None
    return [each.code for each in checked.diagnoses if each.confidence != "possible"]


def check(rule: Rule) -> None:
    """Every program of the rule is found out, and its near miss is not."""
    assert [codes(each) for each in rule.found] == [[rule.code]] * len(rule.found)
    assert codes(rule.near_miss) == []
