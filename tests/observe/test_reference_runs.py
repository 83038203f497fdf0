"""A reference run is the broken program, and its optimizers are given what an expert's repair would give them."""

import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
import torch

from gradsan.fix.judging.given_compared import Steps, difference
from gradsan.observe.graph import roots_of
from gradsan.observe.reference_runs.asked import asked, number_of
from gradsan.observe.reference_runs.attached import function_of
from gradsan.observe.reference_runs.cut import Stored
from warm import PRELOADED

HEAD = """\
import torch
from torch import nn
torch.manual_seed(0)
data = torch.randn(5, 4, 3)
"""

# (reference, the broken program, what an expert writes instead of what)
PAIRS = {
    "state of an lstm": (
        "cut",
        """\
net, state = nn.LSTM(3, 2), None
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    out, state = net(x[:, None], state)
    opt.zero_grad(); out.square().mean().backward(); opt.step()
""",
        ("out, state = net(x[:, None], state)",),
        ("out, state = net(x[:, None], state and tuple(each.detach() for each in state))",),
    ),
    "learned initial state": (
        "cut",
        """\
net, start = nn.GRUCell(3, 2), nn.Parameter(torch.zeros(1, 2))
opt = torch.optim.Adam([*net.parameters(), start], 0.1)
for n, x in enumerate(data):
    h = net(x, start.expand(4, 2) if n % 3 == 0 else h)
    opt.zero_grad(); h.square().mean().backward(); opt.step()
""",
        ("else h)",),
        ("else h.detach())",),
    ),
    "forward that a guard skips": (
        "skipped",
        """\
net = nn.Linear(3, 2)
opt = torch.optim.Adam(net.parameters(), 0.1)
for n, x in enumerate([*data, *data]):
    if n % 3 != 2:
        loss = net(x).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
""",
        ("    opt.zero_grad(); loss",),
        ("    else:\n        continue\n    opt.zero_grad(); loss",),
    ),
    "guard around a part of the forward, with momentum": (
        "skipped",
        """\
net, head = nn.Linear(3, 2), nn.Linear(2, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], 0.1, momentum=0.9)
for n, x in enumerate([*data, *data]):
    if n % 4 != 3:
        features = net(x).tanh()
    loss = head(features).square().mean()
    loss.backward(); opt.step(); opt.zero_grad()
""",
        ("    loss = head",),
        ("    else:\n        continue\n    loss = head",),
    ),
    "queue of keys": (
        "cut",
        """\
net, queue = nn.Linear(3, 2), []
opt = torch.optim.Adam(net.parameters(), 0.1)
for x in data:
    key = net(x).tanh()
    loss = key.square().sum() + sum((key * old).sum() for old in queue)
    queue.append(key)
    opt.zero_grad(); loss.backward(); opt.step()
""",
        ("queue.append(key)",),
        ("queue.append(key.detach())",),
    ),
    "memory written behind the loss": (
        "cut",
        """\
net, write, memory = nn.Linear(3, 2), nn.Linear(2, 2), torch.zeros(4, 2)
opt = torch.optim.SGD([*net.parameters(), *write.parameters()], 0.1)
for x in data:
    out = net(x) * (1 + memory)
    memory = write(out).tanh()
    opt.zero_grad(); (out.square().mean() + write.bias.square().sum()).backward(); opt.step()
""",
        ("memory = write(out).tanh()",),
        ("memory = write(out).tanh().detach()",),
    ),
    "retained state": (
        "cut",
        """\
net, h = nn.GRUCell(3, 2), torch.zeros(4, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    h = net(x, h)
    opt.zero_grad(); h.square().mean().backward(retain_graph=True); opt.step()
""",
        ("h = net(x, h)",),
        ("h = net(x, h.detach())",),
    ),
    "old probabilities": (
        "constant",
        """\
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data[:2]:
    old = net(x).log_softmax(1)[:, 0]
    for _ in range(3):
        ratio = (net(x).log_softmax(1)[:, 0] - old).exp()
        opt.zero_grad(); (-ratio * x[:, 0]).mean().backward(); opt.step()
""",
        ("[:, 0]\n    for",),
        ("[:, 0].detach()\n    for",),
    ),
    "a start that saves nothing": (
        "cut",
        """\
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
start = [each.clone() for each in net.parameters()]
for x in data:
    near = sum((one - other).square().sum() for one, other in zip(net.parameters(), start))
    opt.zero_grad(); (net(x).square().mean() + near).backward(); opt.step()
""",
        ("each.clone()",),
        ("each.detach().clone()",),
    ),
    "a view, which is never old": (
        "cut",
        """\
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
turned = net.weight.t()
for x in data:
    opt.zero_grad(); ((net(x).tanh() @ turned) * net.bias).square().mean().backward(); opt.step()
""",
        ("turned = net.weight.t()", "@ turned"),
        ("", "@ net.weight.t()"),
    ),
    "total of several terms": (
        "term",
        """\
net, total = nn.Linear(3, 2), 0.0
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    for part in x.split(2):
        total = total + net(part).square().mean()
    opt.zero_grad(); total.backward(); opt.step()
""",
        ("for x in data:\n",),
        ("for x in data:\n    total = 0.0\n",),
    ),
    "average of a meter": (
        "term",
        """\
net, total, count = nn.Linear(3, 2), 0.0, 0
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    loss = net(x).square().mean()
    total, count = total + loss, count + 1
    opt.zero_grad(); (total / count).backward(); opt.step()
""",
        ("(total / count).backward()", "total + loss"),
        ("loss.backward()", "total + loss.item()"),
    ),
    "total that is weighed, beside another loss": (
        "term",
        """\
net, penalty = nn.Linear(3, 2), 0.0
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    out = net(x)
    penalty = penalty + out.abs().mean()
    opt.zero_grad(); (out.square().mean() + 0.1 * penalty).backward(); opt.step()
""",
        ("penalty = penalty + out",),
        ("penalty = out",),
    ),
    "two heads": (
        "kept",
        """\
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    out = net(x).tanh()
    opt.zero_grad(); out.sum().backward(); out.square().sum().backward(); opt.step()
""",
        ("out.sum().backward()",),
        ("out.sum().backward(retain_graph=True)",),
    ),
    "gan": (
        "apart",
        """\
gen, dis = nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))
to_gen, to_dis = torch.optim.SGD(gen.parameters(), 0.1), torch.optim.SGD(dis.parameters(), 0.1)
for x in data:
    to_gen.zero_grad(); to_dis.zero_grad()
    fake = gen(x).tanh()
    (dis(fake).square().mean() - dis(x).mean()).backward()
    to_dis.step()
    (-dis(fake)).mean().backward()
    to_gen.step()
""",
        ("(dis(fake).square()",),
        ("(dis(fake.detach()).square()",),
    ),
    "actor and critic": (
        "apart",
        """\
actor, critic = nn.Linear(3, 2), nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))
to_actor, to_critic = torch.optim.SGD(actor.parameters(), 0.1), torch.optim.SGD(critic.parameters(), 0.1)
for x in data:
    advantage = 1.0 - critic(x).squeeze(1)
    chosen = actor(x).log_softmax(1)[:, 0]
    critic_loss, actor_loss = advantage.square().mean(), -(chosen * advantage).mean()
    to_actor.zero_grad(); to_critic.zero_grad()
    critic_loss.backward(); actor_loss.backward()
    to_critic.step(); to_actor.step()
""",
        ("chosen * advantage",),
        ("chosen * advantage.detach()",),
    ),
    "two students that teach each other": (
        "beside",
        """\
one, two = nn.Linear(3, 2), nn.Linear(3, 2)
to_one, to_two = torch.optim.SGD(one.parameters(), 0.1), torch.optim.SGD(two.parameters(), 0.1)
for x in data:
    a, b = one(x).tanh(), two(x).tanh()
    loss_a, loss_b = (a.square() + a * b).mean(), (b.square() + b * a.exp()).mean()
    to_one.zero_grad(); loss_a.backward(retain_graph=True); to_one.step()
    to_two.zero_grad(); loss_b.backward(); to_two.step()
""",
        ("a * b).mean()", "a.exp()"),
        ("a * b.detach()).mean()", "a.exp().detach()"),
    ),
    "a step after each of two losses, cleared once for both": (
        "held",
        """\
trunk, one, two = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4)), nn.Linear(4, 1), nn.Linear(4, 1)
opt = torch.optim.Adam([*trunk.parameters(), *one.parameters(), *two.parameters()], 0.1)
for x in data:
    opt.zero_grad()
    z = trunk(x)
    one(z).square().mean().backward(retain_graph=True)
    opt.step()
    two(z).square().mean().backward()
    opt.step()
""",
        ("(retain_graph=True)\n    opt.step()",),
        ("(retain_graph=True)",),
    ),
    "a step in the loop over the losses, cleared once for all": (
        "held",
        """\
trunk, heads = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4)), [nn.Linear(4, 1) for _ in range(3)]
opt, opts = torch.optim.Adam(trunk.parameters(), 0.1), [torch.optim.Adam(h.parameters(), 0.1) for h in heads]
for x in data:
    for each in (opt, *opts):
        each.zero_grad()
    z = trunk(x)
    for n in range(3):
        heads[n](z).square().mean().backward(retain_graph=True)
        opts[n].step()
        opt.step()
""",
        ("        opt.step()",),
        ("    opt.step()",),
    ),
    "retained state with a step": (
        "beside",
        """\
net, h = nn.GRUCell(3, 2), torch.zeros(4, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    h = net(x, h)
    opt.zero_grad(); h.square().mean().backward(retain_graph=True); opt.step()
""",
        ("h = net(x, h)",),
        ("h = net(x, h.detach())",),
    ),
    "edit of a saved value": (
        "copied",
        """\
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    out = net(x).sigmoid()
    loss = out.square().sum()
    out += 1
    opt.zero_grad(); (loss + out.sum()).backward(); opt.step()
""",
        ("out += 1",),
        ("out = out + 1",),
    ),
    "penalty on a gradient": (
        "created",
        """\
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    x = x.clone().requires_grad_()
    out = net(x)
    slope, = torch.autograd.grad(out.sum(), x)
    opt.zero_grad(); (out.square().mean() + slope.square().mean()).backward(); opt.step()
""",
        ("grad(out.sum(), x)",),
        ("grad(out.sum(), x, create_graph=True)",),
    ),
    "gradients that pile up": (
        "cleared",
        """\
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    net(x).square().mean().backward(); opt.step()
""",
        ("net(x).square()",),
        ("opt.zero_grad(); net(x).square()",),
    ),
    "an optimizer that is older than a layer": (
        "owned",
        """\
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 5))
opt = torch.optim.Adam(net.parameters(), 0.1)
net[2] = nn.Linear(4, 2)
for x in data:
    opt.zero_grad(); net(x).square().mean().backward(); opt.step()
""",
        ("opt = torch.optim.Adam(net.parameters(), 0.1)\n", "for x in data:\n"),
        ("", "opt = torch.optim.Adam(net.parameters(), 0.1)\nfor x in data:\n"),
    ),
    "a parameter that the first batch replaces, in a group of its own": (
        "owned",
        """\
class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.is_new = nn.Parameter(torch.ones(1)), True
    def forward(self, x):
        if self.is_new:
            self.scale, self.is_new = nn.Parameter(x.detach().std().reshape(1)), False
        return x * self.scale
net = nn.Sequential(nn.Linear(3, 4), Norm(), nn.Linear(4, 2), Norm())
groups = [{"params": [p for p in net.parameters() if p.dim() == n], "lr": 0.1 / n} for n in (1, 2)]
opt = torch.optim.Adam(groups)
for x in data:
    opt.zero_grad(); net(x).square().mean().backward(); opt.step()
""",
        ("self.scale, self.is_new = nn.Parameter(x.detach().std().reshape(1)), False",),
        ("self.is_new = self.scale.data.copy_(x.detach().std()) is None",),
    ),
    "a part that is replaced while the rest has momentum": (
        "owned",
        """\
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 5))
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
for n, x in enumerate(data):
    if n in (2, 4):
        net[2] = nn.Linear(4, 5 + n)
    opt.zero_grad(); net(x).square().mean().backward(); opt.step()
""",
        ("net[2] = nn.Linear(4, 5 + n)\n",),
        ("net[2] = nn.Linear(4, 5 + n); opt.param_groups[0]['params'][2:] = net[2].parameters()\n",),
    ),
    "nodes of a graph, once an epoch": (
        "again",
        """\
table, spread = nn.Embedding(4, 2), torch.full((4, 4), 0.25)
opt = torch.optim.Adam(table.parameters(), 0.1)
for epoch in range(2):
    nodes = spread @ table.weight
    for pair in ([0, 2], [1, 3], [2, 1]):
        one, other = nodes[pair]
        opt.zero_grad(); (1 - one.dot(other).sigmoid()).backward(); opt.step()
""",
        ("    nodes = spread @ table.weight\n", "        one, other"),
        ("", "        nodes = spread @ table.weight\n        one, other"),
    ),
    "one cache in another": (
        "again",
        """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel, self.head, self.inner, self.outer = nn.Parameter(torch.ones(3, 3)), nn.Linear(3, 1), None, None
    def power(self):
        if self.inner is None:
            self.inner = self.kernel.softmax(0)
        return self.inner @ self.inner
    def forward(self, x):
        if self.outer is None:
            self.outer = self.power().exp()
        return self.head(x @ self.outer)
net = Net()
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
for x in data:
    opt.zero_grad(); net(x).square().mean().backward(); opt.step()
""",
        ("if self.inner is None", "if self.outer is None"),
        ("if True", "if True"),
    ),
    "weights that a network makes, with edits in place": (
        "again",
        """\
maker, net, code = nn.LSTM(2, 6), nn.Linear(2, 1), torch.randn(4, 2)
opt = torch.optim.SGD([*maker.parameters(), *net.parameters()], 0.1)
made = maker(code)[0][-1].view(3, 2)
made = made.tanh() * 2
made[0] = made[0] * 2
made += 1
for x in data:
    opt.zero_grad(); net((x @ made).relu()).square().mean().backward(); opt.step()
""",
        ("made = maker", "made = made.tanh() * 2\nmade[0] = made[0] * 2\nmade += 1\nfor x in data:\n"),
        (
            "for x in data:\n    made = maker",
            "    made = made.tanh() * 2\n    made[0] = made[0] * 2\n    made += 1\n",
        ),
    ),
    "values that save nothing, trained by hand": (
        "again",
        """\
base, shift, net = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3)), nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
point = base + shift
for x in data:
    for each in (base, shift):
        each.grad = None
    opt.zero_grad(); net(x + point.exp()).square().mean().backward(); opt.step()
    for each in (base, shift):
        each.data -= 0.1 * each.grad
""",
        ("point = base + shift\n", "net(x + point"),
        ("", "net(x + (base + shift)"),
    ),
    "an own function, computed once": (
        "again",
        """\
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()
    @staticmethod
    def backward(ctx, gradient):
        return 0.5 * gradient * ctx.saved_tensors[0].exp()
scale, net = nn.Parameter(torch.zeros(3)), nn.Linear(3, 2)
opt = torch.optim.SGD([scale, *net.parameters()], 0.1)
weight = Own.apply(scale)
for x in data:
    opt.zero_grad(); net(x * weight).square().mean().backward(); opt.step()
""",
        ("weight = Own.apply(scale)\n", "x * weight"),
        ("", "x * Own.apply(scale)"),
    ),
    "a loss that is computed once": (
        "again",
        """\
net, x = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), data[0]
opt = torch.optim.SGD(net.parameters(), 0.1)
loss = net(x).square().mean()
for _ in range(5):
    opt.zero_grad(); loss.backward(); opt.step()
""",
        ("loss = net(x).square().mean()\n", "loss.backward"),
        ("", "net(x).square().mean().backward"),
    ),
    "a critic that steps before its maker's loss": (
        "again",
        """\
actor, critic = nn.Linear(3, 2), nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
to_actor, to_critic = torch.optim.SGD(actor.parameters(), 0.1), torch.optim.SGD(critic.parameters(), 0.1)
for x in data:
    critic_loss = critic(torch.cat([x, x[:, :2]], 1)).square().mean()
    actor_loss = -critic(torch.cat([x, actor(x).tanh()], 1)).mean()
    to_critic.zero_grad(); critic_loss.backward(); to_critic.step()
    to_actor.zero_grad(); actor_loss.backward(); to_actor.step()
""",
        ("    actor_loss = -critic(torch.cat([x, actor(x).tanh()], 1)).mean()\n", "actor_loss.backward"),
        ("", "(-critic(torch.cat([x, actor(x).tanh()], 1)).mean()).backward"),
    ),
    "a number that was to be trained": (
        "attached",
        """\
net, scale = nn.Linear(3, 2), nn.Parameter(torch.tensor(1.0))
opt = torch.optim.SGD([*net.parameters(), scale], 0.1)
for x in data:
    factor = min(scale.exp().item(), 100.0)
    opt.zero_grad(); (factor * net(x)).square().mean().backward(); opt.step()
""",
        ("scale.exp().item()",),
        ("scale.exp()",),
    ),
    "a re-entrant checkpoint of what is given data alone": (
        "attached",
        """\
from torch.utils.checkpoint import checkpoint
block, head = nn.Sequential(nn.Linear(3, 4), nn.Tanh()), nn.Linear(4, 1)
opt = torch.optim.SGD([*block.parameters(), *head.parameters()], 0.1)
for x in data:
    z = checkpoint(block, x, use_reentrant=True)
    opt.zero_grad(); head(z).square().mean().backward(); opt.step()
""",
        ("z = checkpoint(block, x, use_reentrant=True)",),
        ("z = checkpoint(block, x, use_reentrant=False)",),
    ),
    "losses that are copied": (
        "attached",
        """\
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    losses = torch.tensor([each.square().mean() for each in net(x)])
    opt.zero_grad(); losses.mean().backward(); opt.step()
""",
        ("torch.tensor",),
        ("torch.stack",),
    ),
    "a part that is decorated": (
        "attached",
        """\
net, head = nn.Linear(3, 2), nn.Linear(2, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], 0.1)
@torch.no_grad()
def features(x):
    return net(x).tanh()
for x in data:
    opt.zero_grad(); head(features(x)).square().mean().backward(); opt.step()
""",
        ("@torch.no_grad()\n",),
        ("",),
    ),
    "a block in inference mode": (
        "attached",
        """\
net, head = nn.Linear(3, 2), nn.Linear(2, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], 0.1)
for x in data:
    with torch.inference_mode():
        features = net(x).tanh()
    opt.zero_grad(); head(features.clone()).square().mean().backward(); opt.step()
""",
        ("torch.inference_mode()",),
        ("torch.enable_grad()",),
    ),
    "an estimator that is cut off as a whole": (
        "attached",
        """\
net, head = nn.Linear(3, 2), nn.Linear(2, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], 0.1)
for x in data:
    z = net(x)
    code = (z + (z.round() - z)).detach()
    opt.zero_grad(); head(code).square().mean().backward(); opt.step()
""",
        ("(z + (z.round() - z)).detach()",),
        ("z + (z.round() - z).detach()",),
    ),
    "a sum that nobody takes": (
        "whole",
        """\
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    task = net(x).square().mean()
    loss = task + 0.1 * net.weight.abs().sum()
    opt.zero_grad(); task.backward(); opt.step()
""",
        ("loss = task +", "task.backward"),
        ("loss = task +", "loss.backward"),
    ),
    "a penalty after the step": (
        "awaited",
        """\
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in data:
    opt.zero_grad(); net(x).square().mean().backward(); opt.step()
    net.weight.abs().sum().backward()
""",
        ("; opt.step()", ".sum().backward()"),
        ("", ".sum().backward(); opt.step()"),
    ),
    "a step before its pass": (
        "awaited",
        """\
net = nn.Linear(3, 2)
opt = torch.optim.Adam(net.parameters(), 0.1)
for x in data:
    opt.zero_grad(); opt.step(); net(x).square().mean().backward()
""",
        ("opt.step(); net(x).square().mean().backward()",),
        ("net(x).square().mean().backward(); opt.step()",),
    ),
    "gradients that are cleared before the step": (
        "awaited",
        """\
net = nn.Linear(3, 2)
opt = torch.optim.Adam(net.parameters(), 0.1)
for x in data:
    net(x).square().mean().backward(); opt.zero_grad(); opt.step()
""",
        ("net(x).square().mean().backward(); opt.zero_grad()",),
        ("opt.zero_grad(); net(x).square().mean().backward()",),
    ),
    "gradients that are cleared between the passes for one step": (
        "gathered",
        """\
net = nn.Linear(3, 2)
opt = torch.optim.Adam(net.parameters(), 0.1)
for x in data:
    for part in (x, x + 1):
        opt.zero_grad(); net(part).square().mean().backward()
    opt.step()
""",
        ("opt.zero_grad(); net", "opt.step()"),
        ("net", "opt.step(); opt.zero_grad()"),
    ),
    "students that teach each other, and clear before their own pass": (
        "apart",
        """\
one, two = nn.Linear(3, 2), nn.Linear(3, 2)
of_one, of_two = torch.optim.SGD(one.parameters(), 0.1), torch.optim.SGD(two.parameters(), 0.1)
for x in data:
    p, q = one(x).tanh(), two(x).tanh()
    first, second = (p - q).square().mean(), (q - p).pow(4).mean()
    of_one.zero_grad(); first.backward(); of_two.zero_grad(); second.backward()
    of_one.step(); of_two.step()
""",
        ("(p - q)", "(q - p)"),
        ("(p - q.detach())", "(q - p.detach())"),
    ),
    "a gradient of what is computed once": (
        "again",
        """\
net, field = nn.Linear(3, 3), nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([*net.parameters(), field], 0.1)
slope, = torch.autograd.grad(field.pow(3).sum(), field, create_graph=True)
for x in data:
    opt.zero_grad(); net(x * slope).square().mean().backward(); opt.step()
""",
        ("slope, = torch", "True)\nfor x in data:\n"),
        ("for x in data:\n    slope, = torch", "True)\n"),
    ),
}


def _run(program: str, meaning: str | None, noted: tuple[int, ...], line: int, folder: str, answer: Any) -> None:  # noqa: ANN401 # a connection
    from gradsan.entry.trial import Trial
    from gradsan.fix.trials.arrangement import Arrangement

    here = Path(folder)
    of_a_line = ("program.py", line, line, "") if meaning in ("attached", "whole") else None
    trial = Trial(Arrangement(here, here, here, reference=meaning, noted=noted, line=of_a_line))
    trial._arriving()  # noqa: SLF001 # torch is there already
    exec(compile(program, "program.py", "exec"), {"__name__": "__main__"})  # noqa: S102 # one of the above
    given, reference = trial._given, trial._reference  # noqa: SLF001 # as above
    answer.send(([*given.steps, *given.late], tuple(reference.noted), reference.keeps_momentum))


def steps(program: str, reference: str | None, folder: Path, at: str = "") -> Steps:
    """What the optimizers of a program are given; `at`: what the line says that a reference goes by."""
    informed = {"constant": "cut", "held": "beside", "awaited": "late"}
    noted = _ran(program, informed[reference], (), folder, at)[1] if reference in informed else ()
    return _ran(program, reference, noted, folder, at)[0]


def _ran(
    program: str, reference: str | None, noted: tuple[int, ...], folder: Path, at: str
) -> tuple[Steps, tuple[int, ...], bool]:
    """In a process of its own."""
    whole = HEAD + program
    line = whole[: whole.index(at)].count("\n") + 1
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_run, args=(whole, reference, noted, line, str(folder), there))
    child.start()
    there.close()
    try:
        found: tuple[Steps, tuple[int, ...], bool] = here.recv()
    finally:
        child.join()
    return found


@pytest.mark.parametrize("name", PAIRS)
def test_reference_gives_what_the_repaired_program_gives(name: str, tmp_path: Path) -> None:
    """At every step, to every optimizer, the same; and there is more than one step."""
    reference, broken, old, new = PAIRS[name]
    fixed = broken
    for one, other in zip(old, new, strict=True):
        assert one in fixed
        fixed = fixed.replace(one, other)

    ours, theirs = steps(fixed, None, tmp_path), steps(broken, reference, tmp_path, old[0])

    assert len(ours) == len(theirs) >= len("five!")
    assert difference(ours, theirs, {}) is None


@pytest.mark.parametrize(("at", "noted"), [(64, 80), (99, 61)])
def test_what_is_trained_late_is_noted_from_there_on(at: int, noted: int, tmp_path: Path) -> None:
    """Some steps of it: the first ones say nothing of a part that an optimizer is given later."""
    program = f"""\
net = nn.Linear(3, 4)
opt = torch.optim.SGD(net.parameters(), 0.1)
for n in range(100):
    if n == {at}:
        net = nn.Linear(3, 4)
        opt.add_param_group({{"params": net.parameters()}})
    opt.zero_grad(); net(data[0]).square().mean().backward(); opt.step()
"""

    assert len(steps(program, None, tmp_path)) == noted


@pytest.mark.parametrize(
    ("name", "keeps_momentum"),
    [
        ("an optimizer that is older than a layer", False),
        ("a parameter that the first batch replaces, in a group of its own", False),
        ("a part that is replaced while the rest has momentum", True),
    ],
)
def test_momentum_of_other_parts_is_seen(name: str, tmp_path: Path, *, keeps_momentum: bool) -> None:
    """Then an optimizer that is created again is another one."""
    reference, broken, _, _ = PAIRS[name]

    assert _ran(broken, reference, (), tmp_path, "")[2] is keeps_momentum


# What a beginner may well write instead, which ends the error and trains something else.
WRONG = {
    "students that teach each other, and clear before their own pass": (
        "first.backward(); of_two",
        "first.backward(retain_graph=True); of_two",
    ),
    "one cache in another": (
        "            self.outer = self.power().exp()",
        "            pass\n        self.outer = (self.kernel.softmax(0) @ self.power().detach()).exp()",
    ),
    "nodes of a graph, once an epoch": ("nodes[pair]", "(nodes.detach() + table.weight - table.weight.detach())[pair]"),
    "a start that saves nothing": (
        "for x in data:\n",
        "for x in data:\n    start = [each.clone() for each in net.parameters()]\n",
    ),
    "a critic that steps before its maker's loss": (
        "to_critic.step()\n    to_actor.zero_grad(); actor_loss.backward(); ",
        "to_actor.zero_grad(); actor_loss.backward(); to_critic.step(); ",
    ),
    "forward that a guard skips": ("if n % 3 != 2:", "if True:"),
    "state of an lstm": ("out, state = net(x[:, None], state)", "out, _ = net(x[:, None], None)"),
    "total of several terms": ("total = total + net(part).square().mean()", "total = net(part).square().mean()"),
    "gan": (
        "to_dis.step()\n    (-dis(fake)).mean().backward()",
        "(-dis(gen(x).tanh())).mean().backward(); to_dis.step()",
    ),
    "queue of keys": ("sum((key * old).sum() for old in queue)", "0"),
    "edit of a saved value": ("out += 1", "out = (out + 1).detach()"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_trains_something_else_differs_from_the_reference(name: str, tmp_path: Path) -> None:
    """Though nothing raises."""
    reference, broken, _, _ = PAIRS[name]
    old, new = WRONG[name]
    assert old in broken

    ours, theirs = steps(broken.replace(old, new), None, tmp_path), steps(broken, reference, tmp_path)

    assert difference(ours, theirs, {}) is not None


@pytest.mark.parametrize(
    ("loss", "is_idle"),
    [
        ("error + 0.5 * near", True),
        ("error + near.sqrt() * 2 + error", True),
        ("error + (near * error)", False),  # a weight of what trains
        ("near", False),  # all of the loss: then nothing is trained, which is said otherwise
        ("error + 1.0", False),
    ],
)
def test_term_that_trains_nothing_where_a_value_is_put_away_is_seen(loss: str, *, is_idle: bool) -> None:
    """Its author did not mean a constant."""
    weight = torch.ones(3, requires_grad=True)
    error, average = weight.square().mean(), 0.9 * weight
    known = {"error": error, "near": average.square().mean()}
    run = Stored([1])
    run.site_of = {number_of(node): 1 for node in roots_of([average])}.get

    run.before(asked([eval(loss, known)], [(), (), False, False, ()], {"accumulate_grad": True}))  # noqa: S307 # one of the above

    assert run.has_idle_terms is is_idle


def test_trial_in_double_precision_rounds_less(tmp_path: Path) -> None:
    """Whatever the program asks for, in single precision, or has from NumPy."""
    program = """\
import numpy as np
net = nn.Linear(3, 2).float()
opt = torch.optim.SGD(net.parameters(), 0.1)
rows = torch.from_numpy(np.ones((4, 3), np.float32)) + torch.tensor(np.ones(3, np.float32))
for x in data.to(torch.float32):
    opt.zero_grad(); net(x + rows + torch.zeros(4, 3, dtype=torch.float)).square().mean().float().backward(); opt.step()
assert {each.dtype for each in (*net.parameters(), rows, x)} == {WANTED}
"""
    for wanted, precise in (("torch.float64", True), ("torch.float32", False)):
        text = program.replace("WANTED", wanted)
        child = multiprocessing.get_context("forkserver").Process(target=_exactly, args=(text, str(tmp_path), precise))
        child.start()
        child.join()
        assert child.exitcode == 0


def _exactly(program: str, folder: str, precise: bool) -> None:  # noqa: FBT001 # of another process
    from gradsan.entry.trial import Trial
    from gradsan.fix.trials.arrangement import Arrangement

    here = Path(folder)
    Trial(Arrangement(here, here, here, precise=precise))._arriving()  # noqa: SLF001 # torch is there already
    exec(compile(HEAD + program, "program.py", "exec"), {"__name__": "__main__"})  # noqa: S102 # the one above


def test_comprehension_belongs_to_the_function_that_it_stands_in() -> None:
    """Before Python 3.12, each is a function of its own."""
    namespace: dict[str, Any] = {}
    method = "    def forward(self, xs):\n        return [{y for y in x} for x in xs], list(x for x in xs)\n"
    exec(f"class A:\n{method}", namespace)  # noqa: S102 # the one above
    whole: CodeType = namespace["A"].forward.__code__

    def inside(code: CodeType) -> Iterator[CodeType]:
        yield code
        for each in code.co_consts:
            if isinstance(each, CodeType):
                yield from inside(each)

    assert {function_of(each) for each in inside(whole)} == {"forward"}
    assert {function_of(each) for each in inside(compile("[x for x in xs]", "", "exec"))} == {"<module>"}
