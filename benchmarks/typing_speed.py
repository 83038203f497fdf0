"""How soon an editor hears of a changed file, in a project of 200: `python benchmarks/typing_speed.py`.

A real `gradsan server` is spoken to. From the message that a text has changed to the one with its findings.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from plug.editor import Editor, editing

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


def write_project(root: Path) -> None:
    """Half of the files train what the other half defines."""
    for n in range(FILES // 2):
        (root / f"model_{n}.py").write_text(MODEL.format(n=n))
        (root / f"train_{n}.py").write_text(TRAINING.format(n=n, cut=""))


async def measure(root: Path) -> None:
    """Print what the first run and each change took."""
    async with editing(root) as editor:
        began = time.perf_counter()
        await editor.begin()
        await editor.shown("train_99.py")
        print(f"first run, {FILES} files: {time.perf_counter() - began:.2f} s")
        await _changed(editor, "train_0.py", [TRAINING.format(n=0, cut=cut) for cut in ("", ".detach()")])
        await editor.shown("train_1.py")
        models = [
            MODEL.format(n=1).replace("(x, h)\n        return", f"(x, h{cut})\n        return")
            for cut in ("", ".detach()")
        ]
        await _changed(editor, "model_1.py", models, shown_in="train_1.py")


async def _changed(editor: Editor, name: str, texts: list[str], shown_in: str | None = None) -> None:
    """Change a file to and fro, and wait for the findings in it, or in one that imports it."""
    where = shown_in or name
    if shown_in is None:
        await editor.shown(where)
    editor.open(name, texts[0])
    took = []
    for time_around in range(TIMES):
        began = time.perf_counter()
        editor.type(name, texts[(time_around + 1) % 2])
        await editor.shown(where)
        took.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0.1)
    what = f"{name} changed" if shown_in is None else f"{name} changed, {where} imports it"
    print(f"{what}: median {statistics.median(took):.0f} ms, slowest {max(took):.0f} ms")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write_project(Path(folder))
        asyncio.run(measure(Path(folder)))
