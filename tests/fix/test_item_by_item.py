"""A dataset that applies a network in its constructor: it is applied to each item, whenever one is taken."""

from pathlib import Path

import pytest

from fix.programs import Case

DATASET = """\
class Segments(Dataset):
    def __init__(self, segments, labels, adapter):
        self.features = adapter(segments)
        self.labels = labels

    def __len__(self):
        return len(self.features)

    def __getitem__(self, index):
        return self.features[index], self.labels[index]

def main():
    data = Segments(segments, labels, adapter)
    for x, y in DataLoader(data):
        loss = criterion(model(x), y)
        loss.backward()
"""


def fixed(folder: Path, source: str) -> str | None:
    """The program in which every iteration has a graph of its own."""
    case = Case(folder, source)
    created = case.at("data = ", "self.features = ", inner="Segments.__init__")
    enters, used = case.at("loss = "), case.at("loss.backward")
    found = case.diagnosis("GS104", "self.features", made=created, enters=enters, freed=used, used=used)
    return case.fixed("recompute", found)


@pytest.mark.parametrize("written", ["{net}({x})", "torch.tanh({net}({x}))", "{net}({x}.float())"])
def test_network_is_applied_to_each_item(tmp_path: Path, written: str) -> None:
    """It is kept beside the data."""
    source = DATASET.replace("adapter(segments)\n", written.format(net="adapter", x="segments") + "\n")
    item = written.format(net="self.adapter", x="self.features[index].unsqueeze(0)")
    kept = "        self.features = segments\n        self.adapter = adapter\n"
    computed = f"        self.features = {written.format(net='adapter', x='segments')}\n"
    expected = source.replace(computed, kept).replace("return self.features[index]", f"return {item}.squeeze(0)")
    assert fixed(tmp_path, source) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return len(self.features)", "return self.features.mean()"),  # something else is done with the whole
        ("def __getitem__(self", "def batch(self"),  # not of a dataset that a loader asks for items
        ("adapter(segments)", "adapter(segments, labels)"),  # which of them is cut into items?
    ],
)
def test_what_is_not_only_taken_item_by_item_stays(tmp_path: Path, old: str, new: str) -> None:
    """Nothing says what it would mean for an item."""
    assert fixed(tmp_path, DATASET.replace(old, new)) is None
