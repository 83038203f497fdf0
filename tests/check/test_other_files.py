"""Functions that ask for a pass in one file, and are called in another."""

from pathlib import Path

import pytest

from gradsan.check.running import check_files

HELPERS = """
def update(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def log(loss):
    print(loss)
"""
AGENT = """
import torch
from torch import nn
{imports}

class Agent:
    def __init__(self):
        self.actor, self.critic = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1))
        self.actor_opt = torch.optim.Adam(self.actor.parameters())
        self.critic_opt = torch.optim.Adam(self.critic.parameters())

    def learn(self, states, targets):
        critic_loss = (self.critic(states) - targets).pow(2).mean()
        actor_loss = -self.critic(self.actor(states)).mean()
        {call}(self.critic_opt, critic_loss)
        {call}(self.actor_opt, actor_loss)
"""


def _codes(folder: Path) -> list[str]:
    paths = sorted(map(str, folder.rglob("*.py")))
    return [each.code for checked in check_files(paths, None, jobs=1).checked for each in checked.diagnoses]


def _write(folder: Path, imports: str, call: str) -> None:
    (folder / "helpers.py").write_text(HELPERS)
    (folder / "agent.py").write_text(AGENT.format(imports=imports, call=call))


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from helpers import update", "update"),
        ("from helpers import \\\n    log, update as train_on", "train_on"),
        ("import helpers", "helpers.update"),
    ],
)
def test_caller_in_another_file_is_followed(tmp_path: Path, imports: str, call: str) -> None:
    """A method whose helper has the pass fails by the steps of its own optimizers."""
    _write(tmp_path, imports, call)
    assert _codes(tmp_path) == ["GS201"]


def test_caller_of_a_function_without_a_pass_is_left_alone(tmp_path: Path) -> None:
    """Beside it in that file stands one that asks for a pass."""
    _write(tmp_path, "from helpers import log", "log")
    assert _codes(tmp_path) == []


INHERITED = """
class Base:
    def update(self, optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def log(self, optimizer, loss):
        print(optimizer, loss)
"""


@pytest.mark.parametrize("is_apart", [False, True])
@pytest.mark.parametrize(("method", "codes"), [("update", ["GS201"]), ("log", [])])
def test_method_of_a_base_class_is_a_method_of_the_class(
    tmp_path: Path, *, is_apart: bool, method: str, codes: list[str]
) -> None:
    """In the same file or in another; what asks for no pass leads to none."""
    agent = AGENT.format(imports="from base import Base" if is_apart else INHERITED, call=f"self.{method}")
    (tmp_path / "agent.py").write_text(agent.replace("class Agent:", "class Agent(Base):"), encoding="utf-8")
    if is_apart:
        (tmp_path / "base.py").write_text(INHERITED, encoding="utf-8")

    assert _codes(tmp_path) == codes


def test_a_class_that_runs_no_pass_is_not_followed_for_its_imports(tmp_path: Path) -> None:
    """A file that only imports such a function, and calls it nowhere, is not worth following."""
    _write(tmp_path, "from helpers import update", "print")
    paths = sorted(map(str, tmp_path.rglob("*.py")))
    assert check_files(paths, None, jobs=1).read == 1


TRAINER = """
import torch
from torch import nn


class Trainer:
    def setup(self):
        self.model = nn.Linear(4, 1)
        self.penalty = self.model.weight.norm()
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def fit(self, loader):
        for x, y in loader:
            loss = nn.functional.mse_loss(self.model(x), y) + self.penalty
            self.optimizer.zero_grad()
            loss.backward(retain_graph=True)
            self.optimizer.step()


class Report:
    def write(self):
        print("done")
"""


@pytest.mark.parametrize(
    ("driver", "codes"),
    [
        ("from trainer import Trainer\n\ntrainer = Trainer()\ntrainer.setup()\ntrainer.fit(load())\n", ["GS308"]),
        ("import trainer\n\ndriver = trainer.Trainer()\ndriver.setup()\ndriver.fit(load())\n", ["GS308"]),
        ("from trainer import Trainer\n\nd: Trainer = Trainer()\nd.setup()\nd.fit(load())\n", ["GS308"]),
        ("from trainer import Trainer\n\nTRAINERS = [Trainer]\n", []),
    ],
)
def test_file_that_creates_an_object_with_a_pass_is_a_program(tmp_path: Path, driver: str, codes: list[str]) -> None:
    """It needs no main guard. A file that only knows the class drives nothing."""
    (tmp_path / "trainer.py").write_text(TRAINER)
    (tmp_path / "driver.py").write_text("from data import load\n" + driver)

    assert _codes(tmp_path) == codes
