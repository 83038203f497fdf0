"""Programs that use values of parameters which have been trained since, and programs that only look as if they did."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stale:
    """A program with the problem."""

    culprit: str
    text: str
    in_source: bool = True  # whether the source alone shows it


STALE = {
    "local_before_the_loop": Stale(
        "point",
        """\
import torch

base = torch.nn.Parameter(torch.zeros(3))
shift = torch.nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([base, shift], lr=0.1)
goal = torch.tensor([1.0, 2.0, 3.0])
point = base + shift
for epoch in range(5):
    opt.zero_grad()
    loss = (point - goal).square().sum()
    loss.backward()
    opt.step()
""",
    ),
    "attribute_of_a_constructor": Stale(
        "self.weight_sum",
        """\
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Parameter(torch.randn(4, 3) * 0.1)
        self.own = nn.Parameter(torch.zeros(4, 3))
        self.weight_sum = self.shared + self.own

    def forward(self, x):
        return x @ self.weight_sum.t()


model = Classifier()
opt = torch.optim.Adam(model.parameters(), lr=0.05)
xs, ys = torch.randn(32, 3), torch.randint(0, 4, (32,))
for epoch in range(6):
    loss = nn.functional.cross_entropy(model(xs), ys)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "dict_by_name": Stale(
        "cache",
        """\
import torch

tables = {name: torch.nn.Parameter(torch.randn(5, 2)) for name in ("users", "items")}
bias = torch.nn.Parameter(torch.zeros(2))
opt = torch.optim.SGD([*tables.values(), bias], lr=0.1)
cache = {}


def embedded(name):
    if name not in cache:
        cache[name] = torch.cat([tables[name], bias.expand(1, 2)])
    return cache[name]


def train():
    for step in range(4):
        score = (embedded("users") * embedded("items")).sum(1)
        loss = (score - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


train()
""",
    ),
    "lru_cache": Stale(
        "mixing",
        """\
import functools

import torch
from torch import nn

a = nn.Parameter(torch.randn(3, 3))
b = nn.Parameter(torch.randn(3, 3))


@functools.lru_cache(maxsize=None)
def mixing():
    return torch.stack([a, b]).mean(0)


opt = torch.optim.SGD([a, b], lr=0.05)
x = torch.randn(8, 3)
for _ in range(4):
    out = x @ mixing()
    loss = (out - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "cache_in_a_submodule": Stale(
        "self._sum",
        """\
import torch
from torch import nn


class Basis(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.randn(4, 4) * 0.1)
        self.b = nn.Parameter(torch.eye(4))
        self._sum = None

    def matrix(self):
        if self._sum is None:
            self._sum = self.a + self.b
        return self._sum


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.basis = Basis()
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        return self.head(torch.tanh(x @ self.basis.matrix()))


def main():
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    data = torch.randn(16, 4)
    for epoch in range(3):
        loss = net(data).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


main()
""",
    ),
    "matrix_of_a_class": Stale(
        "self.matrix",
        """\
import torch
from torch import nn


class Prototypes:
    weights = nn.Parameter(torch.arange(12.0).reshape(4, 3) / 10)
    matrix = torch.cat([weights, weights.mean(0, keepdim=True)])

    def distance(self, x):
        return torch.cdist(x, self.matrix)


encoder = nn.Linear(5, 3)
protos = Prototypes()
opt = torch.optim.Adam([Prototypes.weights, *encoder.parameters()], lr=0.01)
for batch in range(4):
    loss = protos.distance(encoder(torch.randn(6, 5))).min(1).values.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        in_source=False,
    ),
    "first_layer_that_is_retained": Stale(
        "features",
        """\
import torch
from torch import nn

encoder = nn.Linear(6, 4)
head = nn.Linear(4, 2)
opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
xs = torch.randn(10, 6)
features = encoder(xs)
for epoch in range(4):
    loss = head(features).square().mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
""",
    ),
    "embedding_that_is_retained": Stale(
        "vectors",
        """\
import torch
from torch import nn


def train(table, opt, pairs):
    vectors = table(torch.arange(6))
    for user, item in pairs:
        score = vectors[user].dot(vectors[item])
        loss = nn.functional.softplus(-score)
        opt.zero_grad()
        loss.backward(retain_graph=True)
        opt.step()


table = nn.Embedding(6, 3)
train(table, torch.optim.SGD(table.parameters(), lr=0.5), [(0, 1), (2, 3), (0, 1), (4, 5)])
""",
    ),
    "copy_that_a_penalty_measures_from": Stale(
        "start",
        """\
import torch
from torch import nn

model = nn.Linear(3, 1)
start = [p.clone() for p in model.parameters()]
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    fit = (model(torch.ones(4, 3)) - 2).square().mean()
    stay = sum((p - q).square().sum() for p, q in zip(model.parameters(), start))
    loss = fit + 10 * stay
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "loss_outside_of_a_closure": Stale(
        "loss",
        """\
import torch

w = torch.nn.Parameter(torch.tensor([3.0, -2.0]))
opt = torch.optim.LBFGS([w], lr=0.5, max_iter=4)
residual = w - torch.tensor([1.0, 1.0])
loss = residual.abs().sum()


def closure():
    opt.zero_grad()
    loss.backward(retain_graph=True)
    return loss


for _ in range(3):
    opt.step(closure)
""",
    ),
    "parameters_changed_by_hand": Stale(
        "joined",
        """\
import torch

scale = torch.ones(3, requires_grad=True)
offset = torch.zeros(3, requires_grad=True)
joined = torch.cat([scale, offset])
target = torch.arange(6.0)
for i in range(4):
    loss = (joined - target).abs().sum()
    loss.backward()
    with torch.no_grad():
        for p in (scale, offset):
            p -= 0.1 * p.grad
            p.grad = None
""",
    ),
    "two_iterations": Stale(
        "self.total",
        """\
import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = nn.ParameterList([nn.Parameter(torch.randn(3, 3)) for _ in range(parts)])
        self.total = None

    def forward(self, x):
        if self.total is None:
            self.total = sum(self.parts)
        return x @ self.total


def step(model, opt, x):
    loss = (model(x) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


model = Mixer(3)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for x in torch.randn(2, 5, 3):
    step(model, opt, x)
""",
        in_source=False,
    ),
    "computed_once_an_epoch": Stale(
        "nodes",
        """\
import torch
from torch import nn

user, item = nn.Embedding(5, 2), nn.Embedding(5, 2)
opt = torch.optim.Adam([*user.parameters(), *item.parameters()], lr=0.01)


def propagate():
    both = torch.cat([user.weight, item.weight])
    return both.roll(1, 0) + both


for epoch in range(3):
    nodes = propagate()
    for i in range(4):
        loss = (nodes[i] - nodes[i + 5]).square().sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    ),
    "cache_with_several_entries": Stale(
        "cache",
        """\
import torch
from torch import nn

tables = [nn.Parameter(torch.randn(3)) for _ in range(4)]
bias = nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([*tables, bias], lr=0.1)
cache = {}


def vector(i):
    if i not in cache:
        cache[i] = tables[i] + bias
    return cache[i]


for i, j in [(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)]:
    loss = (vector(i) - vector(j)).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        in_source=False,
    ),
    "result_of_the_iteration_before": Stale(
        "previous",
        """\
import torch
from torch import nn

w = nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([w], lr=0.1)
previous = None
for i in range(6):
    current = w + torch.randn(3)
    loss = (current - 1).square().sum()
    if previous is not None:
        loss = loss + (current - previous).abs().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    previous = current
""",
        in_source=False,
    ),
}

CLEAN = {
    # A view has no values of its own.
    "views_follow_their_parameter": """\
import torch
from torch import nn

w = nn.Parameter(torch.randn(3, 4))
transposed, first, flat, parts = w.t(), w[0], w.view(-1), w[:, 2:]
opt = torch.optim.SGD([w], lr=0.01)
for _ in range(5):
    loss = (torch.ones(2, 4) @ transposed).sum() + first.sum() + flat.sum() + parts.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    # Several passes over one sum, and one step.
    "accumulates_between_two_steps": """\
import torch
from torch import nn

a, b = nn.Parameter(torch.randn(3)), nn.Parameter(torch.randn(3))
opt = torch.optim.SGD([a, b], lr=0.01)
for step in range(4):
    opt.zero_grad()
    both = a + b
    for micro in range(3):
        ((both - micro).square().sum() / 3).backward()
    opt.step()
""",
    # A forward that two passes share.
    "two_losses_and_one_step": """\
import torch
from torch import nn

trunk, one, two = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1)
opt = torch.optim.SGD([*trunk.parameters(), *one.parameters(), *two.parameters()], lr=0.01)
for _ in range(5):
    h = trunk(torch.randn(6, 4))
    opt.zero_grad()
    for head in (one, two):
        head(h).square().mean().backward(retain_graph=head is one)
    opt.step()
""",
    # The generator does not change meanwhile.
    "fake_for_several_steps_of_the_judge": """\
import torch
from torch import nn

G, D = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
og, od = torch.optim.SGD(G.parameters(), lr=0.01), torch.optim.SGD(D.parameters(), lr=0.01)
for _ in range(5):
    fake = G(torch.randn(8, 2))
    for _ in range(3):
        od.zero_grad()
        (D(fake).mean() - D(torch.randn(8, 3)).mean()).backward(retain_graph=True)
        od.step()
    og.zero_grad()
    (-D(fake).mean()).backward()
    og.step()
""",
    # Without a graph.
    "average_of_the_weights": """\
import copy

import torch
from torch import nn

net = nn.Linear(3, 2)
target = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(6):
    x = torch.randn(4, 3)
    with torch.no_grad():
        goal = target(x)
    loss = (net(x) - goal).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, q in zip(net.parameters(), target.parameters()):
            q.mul_(0.9).add_(0.1 * p)
""",
    # It is carried without its graph.
    "state_that_is_detached": """\
import torch
from torch import nn

cell = nn.GRUCell(3, 4)
opt = torch.optim.SGD(cell.parameters(), lr=0.05)
h = torch.zeros(2, 4)
for _ in range(6):
    h = cell(torch.randn(2, 3), h.detach())
    opt.zero_grad()
    h.square().mean().backward()
    opt.step()
""",
    # Every call runs the forward.
    "closure_that_computes": """\
import torch

w = torch.nn.Parameter(torch.tensor([3.0, -2.0]))
opt = torch.optim.LBFGS([w], lr=0.5, max_iter=4)


def closure():
    opt.zero_grad()
    loss = (w - 1).square().sum()
    loss.backward()
    return loss


for _ in range(3):
    opt.step(closure)
""",
    # What is below changes after all of these passes.
    "parameter_that_steps_later": """\
import torch
from torch import nn

frozen_now, trained = nn.Parameter(torch.randn(3)), nn.Parameter(torch.randn(3))
slow, fast = torch.optim.SGD([frozen_now], lr=0.01), torch.optim.SGD([trained], lr=0.01)
for epoch in range(3):
    base = frozen_now + 1
    slow.zero_grad()
    for _ in range(3):
        loss = (base + trained).square().sum()
        fast.zero_grad()
        loss.backward(retain_graph=True)
        fast.step()
    slow.step()
""",
    # Nothing is trained.
    "backward_that_is_timed": """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
loss = model(torch.randn(8, 4)).mean()
for _ in range(10):
    model.zero_grad()
    loss.backward(retain_graph=True)
""",
    # Two passes over one forward.
    "penalty_on_a_gradient": """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(5):
    x = torch.randn(6, 3, requires_grad=True)
    out = model(x)
    (g,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    loss = out.mean() + (g.norm(dim=1) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    # Computed in every forward.
    "tied_and_normed_weights": """\
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(7, 4)
        self.mid = weight_norm(nn.Linear(4, 4))
        self.out = nn.Linear(4, 7, bias=False)
        self.out.weight = self.emb.weight

    def forward(self, ids):
        return self.out(torch.tanh(self.mid(self.emb(ids))))


lm = LM()
opt = torch.optim.AdamW(lm.parameters(), lr=0.01)
for _ in range(5):
    ids = torch.randint(0, 7, (3, 5))
    loss = nn.functional.cross_entropy(lm(ids).flatten(0, 1), ids.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    # Each thread numbers its ops from 0.
    "forward_in_threads": """\
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

a, b = nn.Parameter(torch.randn(3)), nn.Parameter(torch.randn(3))
opt = torch.optim.SGD([a, b], lr=0.01)


def forward(x):
    return (a + b - x).abs().sum()


for _ in range(6):
    with ThreadPoolExecutor(2) as pool:
        losses = list(pool.map(forward, torch.randn(4, 3)))
    opt.zero_grad()
    sum(losses).backward()
    opt.step()
""",
    # Once in an iteration, by two calls of one function.
    "step_between_two_losses": """\
import torch
from torch import nn

trunk, one, two = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1)
first = torch.optim.SGD([*trunk.parameters(), *one.parameters()], lr=0.01)
second = torch.optim.SGD(two.parameters(), lr=0.01)


def update(opt, loss):
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()


for _ in range(5):
    h = trunk(torch.randn(6, 4))
    update(first, one(h).square().mean())
    update(second, two(h).square().mean())
""",
    # Emptied after the step.
    "cache_for_one_step": """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(3)), nn.Parameter(torch.randn(3))
        self.cache = None

    def forward(self, x):
        if self.cache is None:
            self.cache = self.a + self.b
        return (x + self.cache).square().mean()


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(5):
    loss = net(torch.randn(2, 3)) + net(torch.randn(2, 3))
    opt.zero_grad()
    loss.backward()
    opt.step()
    net.cache = None
""",
    # Meant to stay, and said so.
    "start_without_a_graph": """\
import torch
from torch import nn

model = nn.Linear(3, 1)
start = [p.detach().clone() for p in model.parameters()]
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    fit = (model(torch.ones(4, 3)) - 2).square().mean()
    stay = sum((p - q).square().sum() for p, q in zip(model.parameters(), start))
    loss = fit + 10 * stay
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    # Computed once from what does not change.
    "nobody_trains_it": """\
import torch
from torch import nn

fixed, moving = nn.Parameter(torch.randn(3)), nn.Parameter(torch.randn(3))
offset = fixed + 1
opt = torch.optim.SGD([moving], lr=0.1)
for _ in range(5):
    loss = (offset + moving).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    # It is old, and no pass walks it.
    "kept_and_not_walked": """\
import torch
from torch import nn

table = nn.Embedding(6, 3)
opt = torch.optim.SGD(table.parameters(), lr=0.1)
for epoch in range(4):
    vectors = table.weight + 0
    loss = (vectors[0] - vectors[1]).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    latest = vectors
""",
    # They change no parameter.
    "inner_steps": """\
import torch
from torch import nn

w = nn.Parameter(torch.randn(3))
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    total = 0.0
    for task in torch.randn(2, 5, 3):
        (g,) = torch.autograd.grad((task @ w).square().mean(), w, create_graph=True)
        total = total + (task @ (w - 0.1 * g)).square().mean()
    opt.zero_grad()
    total.backward()
    opt.step()
""",
}
