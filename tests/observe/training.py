"""Small programs that train rightly, in the ways that PyTorch knows. Each answers with every number it made."""

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, jacrev, vjp, vmap
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

Numbers = list[Tensor]


def perceptron() -> Numbers:
    """Steps of an optimizer, with dropout, whose random numbers must not change."""
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 2))
    return list(_trained(model, torch.optim.Adam(model.parameters(), 0.1), lambda: model(torch.randn(5, 6)).square()))


def recurrent() -> Numbers:
    """State carried over steps, detached as it should be."""
    cell, state = nn.LSTMCell(3, 4), (torch.zeros(2, 4), torch.zeros(2, 4))

    def forward() -> Tensor:
        nonlocal state
        hidden, memory = cell(torch.randn(2, 3), (state[0].detach(), state[1].detach()))
        state = hidden, memory
        return state[0]

    return list(_trained(cell, torch.optim.SGD(cell.parameters(), 0.1), forward))


def attention() -> Numbers:
    """An encoder layer."""
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return list(_trained(model, torch.optim.SGD(model.parameters(), 0.1), lambda: model(torch.randn(2, 4, 8))))


def convolution() -> Numbers:
    """Batch statistics are edited in place."""
    model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 2))
    return list(_trained(model, torch.optim.SGD(model.parameters(), 0.1), lambda: model(torch.randn(4, 1, 6, 6))))


def transforms() -> Numbers:
    """`torch.func`: its passes are nested and vectorised, and a pullback may run twice."""
    model = nn.Linear(3, 1)
    weights = dict(model.named_parameters())
    x = torch.randn(4, 3)
    gradients = grad(lambda given: functional_call(model, given, (x,)).square().mean())(weights)
    jacobian = jacrev(lambda each: each.sin().sum(-1))(x)
    each = vmap(grad(lambda row: row.square().sum()))(x)
    pull = vjp(torch.sin, x)[1]
    return [*gradients.values(), jacobian, each, *pull(torch.ones(4, 3)), *pull(torch.ones(4, 3))]


def checkpoint_reentrant() -> Numbers:
    """A backward within a backward, which is no second one."""
    return _checkpointed(use_reentrant=True)


def checkpoint_by_hooks() -> Numbers:
    """Saved values that are computed again when they are read."""
    return _checkpointed(use_reentrant=False)


class _Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:  # noqa: ANN401 # as torch has it
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> Tensor:  # noqa: ANN401 # as torch has it
        (x,) = ctx.saved_tensors
        slope: Tensor = 2 * x
        return slope * given[0]


def own_function() -> Numbers:
    """A custom `autograd.Function`."""
    model = nn.Linear(3, 3)

    def forward() -> Tensor:
        scaled: Tensor = _Scaled.apply(model(torch.randn(2, 3)))  # type: ignore[no-untyped-call]
        return scaled

    return list(_trained(model, torch.optim.SGD(model.parameters(), 0.1), forward))


def double_backward() -> Numbers:
    """A gradient penalty: `create_graph=True`, then a pass through the gradient."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))

    def forward() -> Tensor:
        x = torch.randn(5, 3, requires_grad=True)
        (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        penalty: Tensor = (slope.norm(dim=1) - 1).square()
        return penalty

    return list(_trained(model, torch.optim.SGD(model.parameters(), 0.1), forward))


def hooks() -> Numbers:
    """Of tensors, of modules, of what is saved; the order in which they run is part of the answer."""
    last, called = nn.Linear(3, 1), list[float]()
    model = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), last)
    last.register_full_backward_hook(lambda *_: called.append(0.0))
    last.weight.register_hook(lambda given: given * 2)
    last.weight.register_post_accumulate_grad_hook(lambda _: called.append(2.0))

    def pack(saved: Tensor) -> Tensor:
        called.append(3.0)
        return saved.clone()

    def unpack(saved: Tensor) -> Tensor:
        called.append(4.0)
        return saved

    def forward() -> Tensor:
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            out: Tensor = model(torch.randn(2, 3))
        return out

    numbers = list(_trained(model, torch.optim.SGD(model.parameters(), 0.1), forward))
    return [*numbers, torch.tensor(called)]


def closures() -> Numbers:
    """LBFGS calls the forward and the backward by itself, several times a step."""
    model, x = nn.Linear(3, 1), torch.randn(4, 3)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)

    def closure() -> float:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return float(loss.detach())

    return [torch.tensor(optimizer.step(closure)) for _ in range(3)] + _gradients(model)


def mixed_precision() -> Numbers:
    """Autocast and a scaler, which steps in the optimizer's place."""
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu")
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(torch.randn(3, 4)).float().square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.detach())
    return losses + _gradients(model)


def retained() -> Numbers:
    """Two losses of one forward, retained as it should be; and gradients of a part."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    numbers: Numbers = []
    for _ in range(3):
        optimizer.zero_grad()
        out = model(torch.randn(2, 3))
        numbers += torch.autograd.grad(out.sum(), list(model[2].parameters()), retain_graph=True)
        out[:, 0].sum().backward(retain_graph=True)
        out[:, 1].sum().backward()
        optimizer.step()
    return numbers + _gradients(model)


def generator_and_critic() -> Numbers:
    """Two networks, two optimizers, the output of one detached for the other."""
    maker, judge = nn.Linear(2, 3), nn.Linear(3, 1)
    of_maker, of_judge = (torch.optim.SGD(each.parameters(), 0.1) for each in (maker, judge))
    for _ in range(3):
        fake = maker(torch.randn(4, 2))
        of_judge.zero_grad()
        judge(fake.detach()).mean().backward()
        of_judge.step()
        of_maker.zero_grad()
        judge(fake).mean().neg().backward()
        of_maker.step()
    return _gradients(maker) + _gradients(judge)


class _Squares(Dataset[Tensor]):
    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Tensor:
        return torch.full((3,), float(index))


def loaded_by_workers() -> Numbers:
    """Batches come from processes that were forked with the sanitizer in them."""
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    batches = iter(DataLoader(_Squares(), 2, num_workers=1, multiprocessing_context="fork"))
    return list(_trained(model, optimizer, lambda: model(next(batches))))


def threads() -> Numbers:
    """Two models trained at once; each thread counts its ops by itself."""
    weights = [torch.randn(4, 4), torch.randn(4, 4)]
    results: dict[int, Numbers] = {}

    def train(which: int) -> None:
        weight = weights[which].clone().requires_grad_()
        optimizer = torch.optim.SGD([weight], 0.01)
        losses = []
        for _ in range(20):
            optimizer.zero_grad()
            loss = (weight @ weight).tanh().sum()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        results[which] = [*losses, weight.detach()]

    running = [threading.Thread(target=train, args=(which,)) for which in (0, 1)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    return results[0] + results[1]


PROGRAMS: dict[str, Callable[[], Numbers]] = {
    each.__name__: each
    for each in (
        perceptron,
        recurrent,
        attention,
        convolution,
        transforms,
        checkpoint_reentrant,
        checkpoint_by_hooks,
        own_function,
        double_backward,
        hooks,
        closures,
        mixed_precision,
        retained,
        generator_and_critic,
        loaded_by_workers,
        threads,
    )
}


def _checkpointed(*, use_reentrant: bool) -> Numbers:
    inner, outer = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Dropout(0.2)), nn.Linear(3, 1)
    model = nn.Sequential(inner, outer)

    def forward() -> Tensor:
        x = torch.randn(2, 3, requires_grad=True)
        out: Tensor = outer(checkpoint(inner, x, use_reentrant=use_reentrant))
        return out

    return list(_trained(model, torch.optim.SGD(model.parameters(), 0.1), forward))


def _trained(model: nn.Module, optimizer: torch.optim.Optimizer, forward: Callable[[], Any]) -> Iterator[Tensor]:
    for _ in range(3):
        optimizer.zero_grad()
        loss = forward().float().mean()
        loss.backward()
        optimizer.step()
        yield loss.detach()
    yield from _gradients(model)
    yield from (each.detach() for each in model.parameters())
    yield torch.get_rng_state()


def _gradients(model: nn.Module) -> Numbers:
    return [each.grad.clone() for each in model.parameters() if each.grad is not None]


def same(these: Iterable[Tensor], those: Iterable[Tensor]) -> bool:
    """To the bit."""
    pairs = list(zip(these, those, strict=True))
    return all(a.dtype == b.dtype and a.shape == b.shape and a.equal(b) for a, b in pairs)
