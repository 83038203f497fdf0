"""Trainers, each with its adapter: their steps appear, the user's lines are shown, and what is right stays quiet."""

import re
from pathlib import Path

import pytest

from documents.test_documents import SHOWN
from golden_files import Golden
from integrations.running import Run

PROJECT = Path(__file__).parents[2]
PAGE = PROJECT / "docs" / "frameworks.md"


def test_page_shows_what_its_programs_print(golden: Golden, run: Run) -> None:
    """Each is run as the page says; what the trainer prints of itself is left out."""
    text = PAGE.read_text(encoding="utf-8")

    def printed(shown: re.Match[str]) -> str:
        source = shown["source"]
        program = (PROJECT / source.removeprefix("python ")).read_text(encoding="utf-8")
        content = _explained(program, Path(source).name, run) if source.startswith("python ") else program
        return f"<!-- from: {source} -->\n```{shown['language']}\n{content}```"

    golden.check(PAGE, SHOWN.sub(printed, text))


def _explained(program: str, name: str, run: Run) -> str:
    run.write(name, program)
    done = run(name)
    found = re.search(r"^GS\d+ .*?^details: [^\n]*\n", done.stderr, re.DOTALL | re.MULTILINE)
    assert found is not None, done.stderr
    return found[0]


MANUAL = """\
import lightning
import torch
from torch import nn

from gradsan.plug.lightning import GradsanCallback


class Adversarial(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator, self.critic = nn.Linear(4, 4), nn.Linear(4, 1)

    def training_step(self, batch):
        first, second = self.optimizers()
        fake = self.generator(batch)
        first.zero_grad()
        self.manual_backward(self.critic(fake).square().mean())
        first.step()
        second.zero_grad()
        self.manual_backward(-self.critic(fakeDETACHED).mean())
        second.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.critic.parameters(), 0.1), torch.optim.Adam(self.generator.parameters())


if __name__ == "__main__":
    trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", logger=False, callbacks=[GradsanCallback()])
    trainer.fit(Adversarial(), torch.ones(6, 2, 4))
"""


def test_manual_optimization_names_the_optimizers(run: Run) -> None:
    """Both of them, and the lines of the user's step."""
    run.write("train.py", MANUAL.replace("DETACHED", ""))

    done = run("train.py")

    assert "GS106 undetached-network-output: `fake`" in done.stderr
    assert "train.py:18" in done.stderr
    assert "train.py:21" in done.stderr
    assert re.search(r"epoch 0, batch 0, global step 1,\s+with optimizers `SGD`, `Adam`", done.stderr)
    explanation = done.stderr[done.stderr.index("GS106") :]
    assert "site-packages" not in explanation


# In the shape of what the frameworks show first: nothing is wrong with these.
RIGHT = {
    "lightning": """\
import lightning
import torch
from torch import nn

from gradsan.plug.lightning import GradsanCallback


class Autoencoder(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
        self.decoder = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 8))

    def training_step(self, batch):
        loss = nn.functional.mse_loss(self.decoder(self.encoder(batch)), batch)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch):
        self.log("val_loss", nn.functional.mse_loss(self.decoder(self.encoder(batch)), batch))

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


trainer = lightning.Trainer(
    max_epochs=3, accelerator="cpu", logger=False, accumulate_grad_batches=2, gradient_clip_val=1.0,
    callbacks=[GradsanCallback()],
)
trainer.fit(Autoencoder(), torch.randn(8, 4, 8), torch.randn(2, 4, 8))
print("done")
""",
    "transformers": """\
import torch
from torch import nn
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from gradsan.plug.huggingface import GradsanCallback

config = BertConfig(
    vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
)
data = [{"input_ids": torch.randint(50, (6,)), "labels": index % 2} for index in range(32)]
arguments = TrainingArguments(
    "out", num_train_epochs=2, report_to=[], use_cpu=True, save_strategy="no", eval_strategy="epoch",
    gradient_accumulation_steps=2, gradient_checkpointing=True, logging_steps=1,
)
trainer = Trainer(
    BertForSequenceClassification(config), arguments, train_dataset=data, eval_dataset=data[:8],
    callbacks=[GradsanCallback()],
)
trainer.train()
print("done")
""",
    "accelerate": """\
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gradsan.plug.accelerate import watched


def main():
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(), nn.Linear(8, 2))
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4)
    loader = DataLoader(TensorDataset(torch.randn(32, 8), torch.randint(2, (32,))), batch_size=4, shuffle=True)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    with watched(accelerator):
        for _ in range(2):
            for inputs, targets in loader:
                with accelerator.accumulate(model):
                    loss = nn.functional.cross_entropy(model(inputs), targets)
                    accelerator.backward(loss)
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                    optimizer.step()
                    scheduler.step()
                    optimizer.zero_grad()


main()
print("done")
""",
    "ignite": """\
import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gradsan.plug.ignite import attach

model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
optimizer = torch.optim.RMSprop(model.parameters())
criterion = nn.CrossEntropyLoss()
loader = DataLoader(TensorDataset(torch.randn(32, 8), torch.randint(2, (32,))), batch_size=4)
trainer = create_supervised_trainer(model, optimizer, criterion)
evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy(), "loss": Loss(criterion)})
trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda: evaluator.run(loader))
attach(trainer, optimizer)
trainer.run(loader, max_epochs=2)
print("done")
""",
    "skorch": """\
import torch
from skorch import NeuralNetClassifier
from torch import nn

from gradsan.plug.skorch import GradsanCallback


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x):
        return self.layers(x)


net = NeuralNetClassifier(
    Classifier, criterion=nn.CrossEntropyLoss, max_epochs=3, batch_size=8, callbacks=[GradsanCallback()]
)
net.fit(torch.randn(40, 8).numpy(), torch.randint(2, (40,)).numpy())
print("done")
""",
}


@pytest.mark.parametrize("library", sorted(RIGHT))
def test_right_training_stays_quiet(library: str, run: Run) -> None:
    """With all that the framework does of its own: evaluation, accumulation, clipping, schedules, checkpoints."""
    run.write("train.py", RIGHT[library])

    done = run("train.py")

    assert done.stdout.splitlines()[-1] == "done", done.stderr
    assert "GS" not in done.stderr
    assert "gradsan" not in done.stderr


@pytest.mark.parametrize("library", sorted(RIGHT))
def test_whole_program_stays_quiet(library: str, run: Run) -> None:
    """`gradsan run` of the same program: the adapter adds nothing to it but where the trainer is."""
    run.write("train.py", RIGHT[library])

    done = run("-m", "gradsan", "run", "train.py")

    assert done.stdout.splitlines()[-1] == "done", done.stderr
    assert re.findall("^gradsan: .*", done.stderr, re.MULTILINE)[-1].startswith("gradsan: nothing found")
    assert "GS" not in done.stderr


@pytest.mark.parametrize(
    ("module", "extra", "library"),
    [
        ("lightning", "lightning", "lightning"),
        ("huggingface", "transformers", "transformers"),
        ("ignite", "ignite", "ignite"),
        ("skorch", "skorch", "skorch"),
    ],
)
def test_missing_library_is_one_sentence(module: str, extra: str, library: str, run: Run) -> None:
    """What to install."""
    done = run("-c", f"import sys; sys.modules[{library!r}] = None; import gradsan.plug.{module}")

    assert done.stderr.splitlines()[-1].endswith(
        f"needs {library}, which is not installed; install it with `pip install 'gradsan[{extra}]'`"
    )
