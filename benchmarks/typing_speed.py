"""How soon an editor hears of a changed file, in a project of 200: from the message with the text to its findings.

A real `gradsan server` is spoken to. `python benchmarks/typing_speed.py [--quick] [--out FILE]`.
"""

import asyncio
import importlib.util
import sys
import tempfile
import time
from pathlib import Path

from measuring import Answer, Figure, Row, Wish, answer, spread

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

FILES, TIMES = 200, 30
MODEL = """\
import torch


class Model{n}(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(8, 16)
        self.head = torch.nn.Linear(16, 1)

    def forward(self, x, h):
        h = self.cell(x, h)
        return self.head(h), h
"""
TRAINING = """\
import torch

from model_{n} import Model{n}


def train(batches, epochs):
    model = Model{n}()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(epochs):
        h = torch.zeros(4, 16)
        for x, y in batches:
            out, h = model(x, h{cut})
            loss = (out - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())
"""


def write_project(root: Path, files: int) -> None:
    """Half of the files train what the other half defines."""
    for n in range(files // 2):
        (root / f"model_{n}.py").write_text(MODEL.format(n=n))
        (root / f"train_{n}.py").write_text(TRAINING.format(n=n, cut=""))


async def measure(root: Path, files: int, times: int) -> list[Row]:
    """What the first run and each change took."""
    from plug.editor import Editor, editing

    async def changed(name: str, texts: list[str], shown_in: str) -> Row:
        """Change a file to and fro, and wait for the findings."""
        if shown_in == name:
            await editor.shown(shown_in)
        editor.open(name, texts[0])
        took = []
        for number in range(times):
            began = time.perf_counter()
            editor.type(name, texts[(number + 1) % 2])
            await editor.shown(shown_in)
            took.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(0.1)
        what = "a file changed" if shown_in == name else "a file changed that another imports: findings there"
        return Row(what, {"heard after": Figure(spread(took), unit="ms")})

    editor: Editor
    async with editing(root) as editor:
        began = time.perf_counter()
        await editor.begin()
        await editor.shown(f"train_{files // 2 - 1}.py")
        first = time.perf_counter() - began
        rows = [Row(f"the first check of {files} files", {"heard after": Figure(spread([first * 1000]), unit="ms")})]
        rows.append(
            await changed("train_0.py", [TRAINING.format(n=0, cut=cut) for cut in ("", ".detach()")], "train_0.py")
        )
        await editor.shown("train_1.py")
        models = [
            MODEL.format(n=1).replace("(x, h)\n        return", f"(x, h{cut})\n        return")
            for cut in ("", ".detach()")
        ]
        rows.append(await changed("model_1.py", models, "train_1.py"))
    return rows


def question(wish: Wish) -> Answer:
    """In a project of its own. It is the time of the wall: an editor waits."""
    if importlib.util.find_spec("pygls") is None:
        return Answer(facts={"pygls": "not installed"})
    files, times = (6, 2) if wish.quick else (FILES, TIMES)
    with tempfile.TemporaryDirectory() as folder:
        write_project(Path(folder), files)
        return Answer(asyncio.run(measure(Path(folder), files, times)))


if __name__ == "__main__":
    answer(question)
