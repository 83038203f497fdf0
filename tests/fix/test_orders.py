"""Batches that are drawn in a random order: what a network carries from one to the next has nothing to do with it."""

from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.judging.unsaid import unsaid

STEP = """\
def main():
    loader = DataLoader(windows, batch_size=8{asked})
    rows = torch.randperm(80)
    for {each} in {batches}:
        state = {update}
        loss = head(state, x)
        loss.backward()
        opt.step()
"""


def is_open(folder: Path, *, batches: str, asked: str = "", update: str = "cell(x, state)") -> bool:
    """Whether it is said that only the author knows what is to be carried on."""
    each = "n, x" if batches.startswith("enumerate") else "x"
    case = Case(folder, STEP.format(asked=asked, each=each, batches=batches, update=update))
    place = case.at("state = ")
    found = case.diagnosis("GS103", "state", made=place, enters=place, used=case.at("loss.backward"))
    return "in a random order" in str(unsaid(case.program(found), "cut"))


@pytest.mark.parametrize(
    ("batches", "asked"),
    [
        ("loader", ", shuffle=True"),
        ("enumerate(tqdm(loader))", ", sampler=RandomSampler(windows)"),
        ("rows.split(8)", ""),
        ("torch.randperm(80).split(8)", ""),
    ],
)
def test_batches_that_are_shuffled_need_not_follow_one_another(tmp_path: Path, batches: str, asked: str) -> None:
    """Then the state of a network may be to begin again with each."""
    assert is_open(tmp_path, batches=batches, asked=asked)


def test_batches_in_their_order_follow_one_another(tmp_path: Path) -> None:
    """Nothing is drawn."""
    assert not is_open(tmp_path, batches="loader")
    assert not is_open(tmp_path, batches="loader", asked=", shuffle=False")


@pytest.mark.parametrize(
    "update", ["0.9 * state + 0.1 * x.mean()", "torch.cat([state, x])[-64:]", "state.lerp(x, 0.1)"]
)
def test_averages_and_queues_are_the_same_in_any_order(tmp_path: Path, update: str) -> None:
    """They are carried on whatever comes next."""
    assert not is_open(tmp_path, batches="loader", asked=", shuffle=True", update=update)


@pytest.mark.parametrize("update", ["torch.tanh(x @ w + state @ u)", "gate(torch.cat([x, state]))"])
def test_a_cell_of_ones_own_is_a_network(tmp_path: Path, update: str) -> None:
    """What it computes from its state depends on what came before."""
    assert is_open(tmp_path, batches="loader", asked=", shuffle=True", update=update)


PIECES = """\
def main():
    for song in DataLoader(songs, shuffle=True):
        state = None
        for x in song.split(16):
            state = cell(x, state)
            loss = head(state, x)
            loss.backward()
            opt.step()
"""


def test_pieces_of_what_was_drawn_follow_one_another(tmp_path: Path) -> None:
    """A loop of their own goes through them."""
    case = Case(tmp_path, PIECES)
    place = case.at("state = cell")
    found = case.diagnosis("GS103", "state", made=place, enters=place, used=case.at("loss.backward"))

    assert unsaid(case.program(found), "cut") is None


BANK = """\
class Bank:
    def update(self, rows, features):
        self.vectors = self.vectors.index_copy(0, rows, features)

    def compare(self, features):
        near = features @ self.vectors.T
        return near

def main():
    for x in DataLoader(pictures, shuffle=True):
        loss = head(bank.compare(net(x)))
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize("stored", ["self.vectors.index_copy(0, rows, features)", "near"])
def test_what_is_only_compared_with_a_bank_is_no_next_value_of_it(tmp_path: Path, stored: str) -> None:
    """But what is computed from it and put there is."""
    case = Case(tmp_path, BANK.replace("self.vectors.index_copy(0, rows, features)", stored))
    place = case.at("bank.compare", "near = features", inner="Bank.compare")
    found = case.diagnosis("GS103", "self.vectors", made=place, enters=place, used=case.at("loss.backward"))

    assert ("in a random order" in str(unsaid(case.program(found), "cut"))) is (stored == "near")
