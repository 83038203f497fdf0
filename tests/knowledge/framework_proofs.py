"""What rows about frameworks say, seen at objects of the frameworks themselves: one proof for each row."""

import gc
import weakref
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

# They are built against CUDA on the machine that they are installed on.
NEED_CUDA = ("deepspeed", "apex")


def _training() -> tuple[nn.Linear, Tensor]:
    """A layer, and a loss of it."""
    layer = nn.Linear(2, 1, bias=False)
    return layer, layer(torch.ones(1, 2)).sum()


def _accelerator() -> Any:  # of a library without types
    return import_module("accelerate").Accelerator(cpu=True)


def _fabric() -> Any:  # likewise
    return import_module("lightning").Fabric(accelerator="cpu", devices=1)


def _gives_gradients(backward: Callable[[Tensor], object], layer: nn.Linear, loss: Tensor) -> bool:
    """There are none before, and some afterwards; and the graph was freed."""
    before, saved = layer.weight.grad, loss.grad_fn
    backward(loss)
    return before is None and saved is not None and layer.weight.grad is not None


def accelerator_backward(_: Path) -> bool:
    """`accelerator.backward(loss)`."""
    return _gives_gradients(_accelerator().backward, *_training())


def accelerator_prepare(_: Path) -> bool:
    """Model and optimizer, with the very parameters."""
    layer, _loss = _training()
    model, optimizer = _accelerator().prepare(layer, torch.optim.SGD(layer.parameters(), lr=0.1))
    return _same(model.parameters(), layer.parameters()) and _same(_optimized(optimizer), layer.parameters())


def accelerator_limits(_: Path) -> bool:
    """`accelerator.clip_grad_norm_(model.parameters(), 0.1)`."""
    layer, loss = _training()
    loss.backward()
    _accelerator().clip_grad_norm_(layer.parameters(), 0.1)
    return layer.weight.grad is not None and bool(layer.weight.grad.norm() < 1)


def fabric_backward(_: Path) -> bool:
    """`fabric.backward(loss)`."""
    return _gives_gradients(_fabric().backward, *_training())


def fabric_setup(_: Path) -> bool:
    """Model and optimizer, with the very parameters."""
    layer, _loss = _training()
    model, optimizer = _fabric().setup(layer, torch.optim.SGD(layer.parameters(), lr=0.1))
    return _same(model.parameters(), layer.parameters()) and _same(_optimized(optimizer), layer.parameters())


def fabric_setup_module(_: Path) -> bool:
    """The model alone."""
    layer, _loss = _training()
    return _same(_fabric().setup_module(layer).parameters(), layer.parameters())


def fabric_setup_optimizers(_: Path) -> bool:
    """The optimizer alone."""
    layer, _loss = _training()
    fabric = _fabric()
    optimizer = fabric.setup_optimizers(torch.optim.SGD(fabric.setup_module(layer).parameters(), lr=0.1))
    return _same(_optimized(optimizer), layer.parameters())


def fabric_setup_dataloaders(_: Path) -> bool:
    """What it goes over is what it was given."""
    batches = _fabric().setup_dataloaders(DataLoader([1.0, 2.0, 3.0]))  # type: ignore[arg-type] # a list will do
    return [float(each) for each in batches] == [1.0, 2.0, 3.0]


def manual_backward(_: Path) -> bool:
    """Inside the training step of a module that a trainer runs."""
    lightning = import_module("lightning")
    layer, _loss = _training()
    seen: list[bool] = []

    class Module(lightning.LightningModule):  # type: ignore[misc, name-defined] # of a library without types
        automatic_optimization = False

        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def training_step(self, batch: Tensor, _index: int) -> None:
            """One pass by hand."""
            seen.append(_gives_gradients(self.manual_backward, layer, layer(batch).sum()))

        def configure_optimizers(self) -> torch.optim.Optimizer:
            """It is never asked to step."""
            return torch.optim.SGD(self.parameters(), lr=0.1)

    trainer = lightning.Trainer(max_epochs=1, limit_train_batches=1, accelerator="cpu", devices=1, barebones=True)
    trainer.fit(Module(), DataLoader(torch.ones(1, 2)))  # type: ignore[arg-type] # a tensor will do
    return seen == [True]


def cached(_: Path) -> bool:
    """The very tensor comes back, with its graph."""
    weight = torch.ones(1, requires_grad=True)
    function = import_module("cachetools").cached(cache={})(lambda factor: weight * factor)
    return function(2) is function(2) and function(2).grad_fn is not None


def add_scalar(folder: Path) -> bool:
    """Written down, and not kept."""
    writer = import_module("torch.utils.tensorboard").SummaryWriter(folder)
    is_let_go = _lets_go(lambda loss: writer.add_scalar("loss", loss, 1))
    writer.close()
    return is_let_go


def add_scalars(folder: Path) -> bool:
    """Likewise, several."""
    writer = import_module("torch.utils.tensorboard").SummaryWriter(folder)
    is_let_go = _lets_go(lambda loss: writer.add_scalars("losses", {"train": loss}, 1))
    writer.close()
    return is_let_go


def set_postfix(_: Path) -> bool:
    """Shown beside the bar, and not kept."""
    with import_module("tqdm").tqdm(disable=None, file=_Nowhere()) as bar:
        return _lets_go(lambda loss: bar.set_postfix(loss=loss))


def set_description(_: Path) -> bool:
    """Shown before the bar, and not kept."""
    with import_module("tqdm").tqdm(disable=None, file=_Nowhere()) as bar:
        return _lets_go(lambda loss: bar.set_description(f"loss {loss}"))


class _Nowhere:
    """A terminal that nobody looks at."""

    def write(self, _: str) -> None:
        """Nothing is written."""

    def flush(self) -> None:
        """Likewise."""

    def isatty(self) -> bool:
        """A bar that is shown to nobody would do nothing."""
        return True


def _same(ours: Iterable[Tensor], theirs: Iterable[Tensor]) -> bool:
    pointers = [each.data_ptr() for each in theirs]
    return bool(pointers) and [each.data_ptr() for each in ours] == pointers


def _optimized(optimizer: Any) -> list[Tensor]:  # a wrapper of a library without types
    return [each for group in optimizer.param_groups for each in group["params"]]


def _lets_go(take: Callable[[Tensor], object]) -> bool:
    """Whether nobody holds a loss, nor its graph, that was given to somebody."""
    layer, loss = _training()
    mark = nn.Identity()  # something that goes with the op
    assert loss.grad_fn is not None
    loss.grad_fn.metadata["mark"] = mark  # type: ignore[index] # a dict, which torch annotates as a method
    held = weakref.ref(loss), weakref.ref(mark)
    take(loss)
    del loss, layer, mark
    gc.collect()
    return [each() for each in held] == [None, None]


PROOFS: dict[str, Callable[[Path], bool]] = {
    "accelerate.Accelerator.backward": accelerator_backward,
    "accelerate.Accelerator.prepare": accelerator_prepare,
    "accelerate.Accelerator.clip_grad_norm_": accelerator_limits,
    "lightning.LightningModule.manual_backward": manual_backward,
    "lightning.Fabric.backward": fabric_backward,
    "lightning.Fabric.setup": fabric_setup,
    "lightning.Fabric.setup_module": fabric_setup_module,
    "lightning.Fabric.setup_optimizers": fabric_setup_optimizers,
    "lightning.Fabric.setup_dataloaders": fabric_setup_dataloaders,
    "cachetools.cached": cached,
    "torch.utils.tensorboard.SummaryWriter.add_scalar": add_scalar,
    "torch.utils.tensorboard.SummaryWriter.add_scalars": add_scalars,
    "tqdm.tqdm.set_postfix": set_postfix,
    "tqdm.tqdm.set_description": set_description,
}
