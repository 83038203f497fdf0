"""What adapters of trainers share. The trainers themselves are tested by `make test-integrations`."""

from pathlib import Path

import pytest

from gradsan.plug.training import optimizer_names
from warm import Warm

# A library, which calls what the user has defined.
TRAINER = """\
import sys

from gradsan.plug.training import Training


class Trainer:
    epoch = 3

    def fit(self, step):
        training = Training(self.where)
        training.begin(sys._getframe())
        for _ in range(2):
            step().backward()

    def where(self):
        return f"the trainer was at epoch {self.epoch}"
"""
PROGRAM = """\
import sys

import torch

sys.path.append("site-packages")
from trainer import Trainer


class Model:
    cell, state = torch.nn.GRUCell(4, 4), torch.zeros(2, 4)

    def step(self):
        self.state = self.cell(torch.ones(2, 4), self.state)
        return self.state.square().mean()


trainer = Trainer()
WRONG
trainer.fit(Model().step)
"""


@pytest.mark.parametrize(
    ("wrong", "note"),
    [
        ("", "note: the trainer was at epoch 3"),
        ("del Trainer.epoch", "gradsan: a trainer is not asked: AttributeError"),
    ],
)
def test_trainer_that_the_script_waits_for_is_seen_as_a_loop(wrong: str, note: str, tmp_path: Path) -> None:
    """The script called it before anything was recorded; a trainer that cannot say where it is costs that sentence."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "trainer.py").write_text(TRAINER)
    (tmp_path / "train.py").write_text(PROGRAM.replace("WRONG", wrong))

    ended = Warm().run(tmp_path / "train.py")

    assert "GS103 carried-state: `self.state`" in ended.stderr
    assert "train.py:19" in ended.stderr
    assert "not certain" not in ended.stderr
    assert note in ended.stderr
    assert "site-packages" not in ended.stderr[ended.stderr.index("GS103") :]


def test_optimizers_are_named_by_class() -> None:
    """Those that wrappers hold; a second one of a class has a number."""

    class Adam:
        pass

    class Wrapper:
        optimizer = Adam()

    assert optimizer_names([Adam()]) == "optimizer `Adam`"
    assert optimizer_names([Adam(), Wrapper(), Adam()]) == "optimizers `Adam`, `Adam-1`, `Adam-2`"
    assert optimizer_names([]) == "no optimizer"
