"""`gradsan fix --verify` on whole programs: what is written trains as meant, and what is refused is given a reason.

Each rule has three programs under it, and one beyond it that must go another way.
"""

from pathlib import Path

import pytest

from cli.test_fix import fix

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
"""

OWN_BACKWARD = """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return {forward}

    @staticmethod
    def backward(ctx, gradient):
        return {backward}


body, label, domain = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4)), nn.Linear(4, 2), nn.Linear(4, 2)
to_label = torch.optim.SGD([*body.parameters(), *label.parameters()], 0.1)
to_domain = torch.optim.SGD(domain.parameters(), 0.1)
for step in range(4):
    x, y = torch.randn(6, 3), torch.randint(2, (6,))
    features = body(x).tanh()
    first = F.cross_entropy(label(features), y)
    second = F.cross_entropy(domain(Own.apply(features)), 1 - y)
    to_label.zero_grad()
    to_domain.zero_grad()
    first.backward({retained})
    to_label.step()
    second.backward()
    to_domain.step()
"""
HELD = "    first.backward(retain_graph=True)\n    second.backward()\n    to_label.step()\n    to_domain.step()\n"
REVERSAL = OWN_BACKWARD.format(forward="x.view_as(x)", backward="-gradient", retained="retain_graph=True")
SCALING = OWN_BACKWARD.format(forward="x.view_as(x)", backward="0.1 * gradient", retained="")
STRAIGHT = OWN_BACKWARD.format(forward="x.sign()", backward="gradient", retained="retain_graph=True")
PROBE = REVERSAL.replace("Own.apply(features)", "features")
CRITIC = (
    OWN_BACKWARD.partition("body, ")[0].format(forward="x.tanh()", backward="gradient")
    + """
critic, actor = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), nn.Linear(3, 2)
to_critic, to_actor = torch.optim.SGD(critic.parameters(), 0.1), torch.optim.SGD(actor.parameters(), 0.1)
for step in range(4):
    x = torch.randn(6, 3)
    value = Own.apply(critic(x)).squeeze(1)
    chosen = actor(x).log_softmax(1)[:, 0]
    to_critic.zero_grad()
    to_actor.zero_grad()
    critic_loss, actor_loss = (1 - value).square().mean(), -(chosen * value).mean()
    critic_loss.backward(retain_graph=True)
    to_critic.step()
    actor_loss.backward()
    to_actor.step()
"""
)

PILING = """
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for step in range(12):
    {body}
"""
BELOW = "{0}opt.step()\n{0}opt.zero_grad()\n"

LBFGS = """
net, x = nn.Linear(3, 1), torch.randn(8, 3)
opt = torch.optim.LBFGS(net.parameters(), max_iter=3)


def train():
    for step in range(3):
        out = net(x)
        loss = out.square().mean(){more}

        def closure():
            opt.zero_grad()
            loss.backward()
            return {returned}

        {call}
        {below}


train()
"""
INSIDE = "            loss = out.square().mean()\n            loss.backward()\n"

GLOBAL = """
policy = nn.Linear(3, 2)
opt = torch.optim.SGD(policy.parameters(), 0.1)
log_probs, rewards = [], []


def act(x):
    log_probs.append(policy(x).log_softmax(0)[0])
    rewards.append(float(x.sum()))


def finish():
    returns = torch.tensor(rewards)
    opt.zero_grad()
    loss = -sum(a * b for a, b in zip(log_probs, returns))
    loss.backward()
    opt.step()
    return loss.item()


for episode in range(3):
    for t in range(4):
        act(torch.randn(3))
    print(finish())
"""
OF_AN_OBJECT = GLOBAL.replace("log_probs, rewards = [], []", "class Episode:\n    log_probs, rewards = [], []")
for each in ("log_probs", "rewards"):
    OF_AN_OBJECT = OF_AN_OBJECT.replace(f"    {each}.append", f"    Episode.{each}.append")
OF_AN_OBJECT = OF_AN_OBJECT.replace("tensor(rewards)", "tensor(Episode.rewards)").replace("zip(l", "zip(Episode.l")
HANDED_ON = GLOBAL.replace("act(x)", "act(x, log_probs, rewards)").replace("finish()", "finish(log_probs, rewards)")
HANDED_ON = HANDED_ON.replace("act(torch.randn(3))", "act(torch.randn(3), log_probs, rewards)")
KEYS = """
net, keys = nn.Linear(3, 2), []
opt = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    x = torch.randn(4, 3)
    key = net(x).tanh()
    loss = net(x + 0.1).sub(key).square().mean() + sum((net(x) * old).mean() for old in keys)
    opt.zero_grad()
    loss.backward()
    opt.step()
    keys.append(key)
"""

CACHING = """
class Spread(nn.Module):
    def __init__(self, size, cached=False):
        super().__init__()
        self.inner = nn.Linear(size, size)
        self.cached = cached
        self.kept = None

    def forward(self, x):
        {guard}


net = nn.Sequential(Spread(3, cached={on}), nn.Tanh(), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(4, 3)
for step in range(3):
    loss = net(x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
FILLS = """if self.kept is None or not self.cached:
            for _ in range(2):
                x = self.inner(x).tanh()
            self.kept = x
        return self.kept"""
ANSWERS = """if self.cached and self.kept is not None:
            return self.kept
        self.kept = self.inner(x).tanh()
        return self.kept"""
NESTED = FILLS.replace("self.kept is None or not self.cached", "not self.cached or self.kept is None")
ALWAYS = "if self.kept is None:\n            self.kept = self.inner(x).tanh()\n        return self.kept"

FROZEN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.body(x).tanh())


net = Net()
{freezing}
opt = torch.optim.SGD({trained}, 0.1)
for step in range(3):
    loss = net(torch.randn(4, 3)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
NEW = "net.head = nn.Linear(4, 1)\n"
BY_ONE = "for each in net.parameters():\n    each.requires_grad = False\n"
BY_NAME = "for name, each in net.named_parameters():\n    each.requires_grad_(False)\n"
AT_ONCE = "def prepare(net):\n    {}    return net\n\n\nnet = prepare(net)"
MOVING = """
net, h = nn.GRUCell(3, 2), torch.zeros(4, 2)
{optimizer}
for step in range(4):
    h = net(torch.randn(4, 3), h)
    {clear}
    h.square().mean().backward()
    with torch.no_grad():
        {edit}
"""
CLIPPED = MOVING.format(
    optimizer="opt = torch.optim.SGD(net.parameters(), 0.1)",
    clear="opt.zero_grad()",
    edit="opt.step()\n        for each in net.parameters():\n            each.clamp_(-0.1, 0.1)",
)
DECAYED = CLIPPED.replace("each.clamp_(-0.1, 0.1)", "each.mul_(0.99)")
TEACHER = """
net, teacher, centre = nn.Linear(3, 2), nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 2)), torch.zeros(2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    x = torch.randn(4, 3)
    taught = teacher(x)
    loss = (net(x) - (taught - centre)).square().mean()
    centre = 0.9 * centre + 0.1 * taught.exp().mean(0)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for one in teacher.parameters():
            one.mul_(0.99)
"""

AIMED_AT = """
import random
from collections import deque

net, memory = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), {memory}
opt = torch.optim.SGD(net.parameters(), 0.1)


def remember(x):
    target = 0.5 + 0.9 * net(x).max()
    memory.append((x, target))


random.seed(0)
for step in range(8):
    remember(torch.randn(3))
    inputs, targets = zip(*random.choices(memory, k=4))
    values = net(torch.stack(inputs)).mean(1)
    loss = {loss}
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
REPLAYED = """
import random

net, memory = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), []
opt = torch.optim.SGD(net.parameters(), 0.1)


def observe(x):
    answer = net(x)
    loss = answer.square().mean()
    if memory:
        old, said = random.choice(memory)
        loss = loss + F.mse_loss(net(old), said)
    opt.zero_grad()
    loss.backward()
    opt.step()
    memory.append((x, answer))
    return loss.item()


random.seed(0)
{training}
"""
PROJECTED = """
net, copy, small = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 2)
opt, other = torch.optim.SGD([*net.parameters(), *small.parameters()], 0.1), torch.optim.SGD([torch.ones(1)], 0.1)


@torch.no_grad()
def project(one):
    for each in one.parameters():
        {edit}


for step in range(4):
    loss = small(copy(net(torch.randn(5, 3)).tanh()).tanh()).square().mean()
    project({edited})
    opt.zero_grad()
    loss.backward()
{stepping}
"""
STEP = "    opt.step()\n"
INNER = """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
opt = torch.optim.SGD(net.parameters(), 0.1)


class Smooth(nn.Module):
    def forward(self, x, said):
        {leaf}
        {compared}
        return {again} + said.mean()


for x in torch.randn(4, 5, 3):
    said = net(x).tanh()
    loss = said.square().mean() + Smooth()(x, said)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
DISTURBED = INNER.format(
    leaf="target = said.softmax(1)\n        d = torch.randn_like(x).requires_grad_()",
    compared="F.kl_div(net(x + d).log_softmax(1), target).backward()",
    again="F.kl_div(net(x + d.grad).log_softmax(1), target)",
)
MOVED = INNER.format(
    leaf="d = torch.randn_like(x)\n        d.requires_grad_()\n        aim = said.exp()",
    compared="off = (net(x + d) - aim).square().sum()\n        off.backward()",
    again="(net(x + d.grad.sign()) - aim).abs().mean()",
)
SCALED = INNER.format(
    leaf="scale = torch.ones(3, requires_grad=True)\n        goal = said.sigmoid()",
    compared="F.mse_loss(net(x * scale), goal).backward()",
    again="F.mse_loss(net(x * (1 + scale.grad)), goal)",
)
ENERGY = INNER.format(
    leaf="x = x.clone().requires_grad_()\n        energy = net(x).square().sum()",
    compared="energy.backward()\n        print(x.grad.norm())",
    again="energy.exp()",
)
UNRECORDED = "    with torch.no_grad():\n        target = 0.5 + 0.9 * net(x).max()\n"

# A table of a dynamic program: what `minimum` has saved is a view of it, and every entry is written into it.
TABLE = """
def cheapest(cost):
    size = len(cost)
    table = torch.full((size + 1, size + 1), 9.0)
    table[0, 0] = 0.0
    for i in range(1, size + 1):
        for j in range(1, size + 1):
            best = {best}
            table[i, j] = cost[i - 1, j - 1] + best
    return table[size, size]

net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    x = torch.randn(5, 3)
    loss = cheapest(torch.cdist(net(x), x))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

TOTAL = """
net = nn.Linear(4, 4)
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    out = net(torch.randn(8, 4))
    task = (out - 1).square().mean()
    spread = out.var(0).mean()
    loss = {total}
    opt.zero_grad()
    {asking}
    opt.step()
    print(loss.item())
"""

STRAIGHT_THROUGH = """
encoder, decoder = nn.Linear(4, 3), nn.Linear(3, 4)
table = nn.Parameter(torch.randn(3))
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), table])

def quantized(z):
    code = {code}
    return code, F.mse_loss(table.expand(5, 3), z.detach())

for _ in range(8):
    x = torch.randn(5, 4)
    code, shift = quantized(encoder(x))
    loss = F.mse_loss(decoder(code), x) + shift
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

# What the run does not show, for it is not added in a statement of its own, and the source does.
SUMMED_PENALTY = """
def terms(field, x):
    x = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(field(x).sum(), x{asked})
    return [field(x).square().mean(), (slope.norm(dim=1) - 1).square().mean()]


net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for x in torch.randn(6, 8, 3):
    loss = torch.stack(terms(net, x)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

# The program, and a part of what it says when it is fixed.
FEW_LOSSES = """
net = nn.Linear(2, 1)


def learned(x):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss


def over_tasks():
    losses = []
    for _ in range(3):
        losses.append(learned(torch.randn(4, 2)))
    return torch.stack(losses).mean().item()


for _ in range(4):
    print(over_tasks())
"""

FROM_ONE_POINT = "only its author knows whether the earlier step is to wait for the later backward()"
# Two players of one game, and what each of them is asked for; a step comes between.
PLAYERS = """
first, second = nn.Linear(3, 2), nn.Linear(2, 2)
to_first, to_second = torch.optim.SGD(first.parameters(), 0.1), torch.optim.SGD(second.parameters(), 0.1)
for x in torch.randn(4, 6, 3):
    to_first.zero_grad()
    to_second.zero_grad()
    worth = second(first(x).softmax(1)).log_softmax(1)[:, 0].mean()
{passes}
    to_first.step()
"""
BY_GRADIENTS = """\
    given = torch.autograd.grad(-worth, list(second.parameters()), retain_graph=True)
    second.weight.grad, second.bias.grad = given
    to_second.step()
    first.weight.grad, first.bias.grad = torch.autograd.grad(worth, list(first.parameters()))"""
BY_INPUTS = """\
    worth.backward(inputs=list(second.parameters()), retain_graph=True)
    to_second.step()
    (-worth).backward(inputs=list(first.parameters()))"""
BY_TERMS = """\
    (worth + 0.1 * second.weight.square().sum()).backward(inputs=list(second.parameters()), retain_graph=True)
    to_second.step()
    (0.1 * first.weight.square().sum() - worth).backward(inputs=list(first.parameters()))"""
OTHER_LOSSES = """\
    (1 - worth).square().backward(inputs=list(second.parameters()), retain_graph=True)
    to_second.step()
    worth.square().backward(inputs=list(first.parameters()))"""

# A learned optimizer: the program cuts what it has trained, and not what the optimizer itself remembers.
LEARNED = """
rnn, head = nn.LSTMCell(1, 4), nn.Linear(4, 1)
meta = torch.optim.SGD([*rnn.parameters(), *head.parameters()], 0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)


def moved(value, gradient, state):
    h, c = rnn(gradient, state)
    return value + head(h), (h, c)


def misses(params):
    return (x @ params["w"] - y).square().mean()


params, state = {{"w": torch.randn(3, 1).requires_grad_()}}, {{"w": (torch.zeros(3, 4), torch.zeros(3, 4))}}
for step in range(4):
    (gradient,) = torch.autograd.grad(misses(params), params["w"])
{update}
    meta.zero_grad()
    loss.backward()
    meta.step()
{cut}
"""
IN_PLACE = """\
    params["w"], state["w"] = moved(params["w"], gradient, state["w"])
    loss = misses(params)"""
ANEW = """\
    new = {}
    new["w"], state["w"] = moved(params["w"], gradient, state["w"])
    loss = misses(new)"""
OF_ITSELF = "    params = {k: v.detach().requires_grad_() for k, v in params.items()}\n"
OF_NEW = "    params = {k: v.detach().requires_grad_() for k, v in new.items()}\n"
FORGOTTEN = """\
    loss.backward()
    state = {key: tuple(inner_each.detach() for inner_each in value) for key, value in state.items()}
    meta.step()
"""

# A state that is cut in one case, and was to be cut in every one.
CHOSEN = """
cell, kept = nn.GRUCell(3, 4), True
opt = torch.optim.SGD(cell.parameters(), 0.1)
state = torch.zeros(2, 4)
for _ in range(4):
    state = cell(torch.randn(2, 3), {read})
    loss = state.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

# A part that trains itself within the forward, and is given features: the loss of the program trains these.
INSIDE_FORWARD = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.net = nn.Parameter(torch.randn(5, 4)), nn.Linear(4, 4)
        self.own = torch.optim.SGD({trained}, 0.1)

    def forward(self, z):
{body}

encoder, head = nn.Sequential(nn.Linear(3, 4), nn.Tanh()), nn.Linear(4, 1)
part = Part()
opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], 0.1)
for _ in range(3):
    loss = head(part(encoder(torch.randn(6, 3)))).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
OWN_STEP = """\
        self.own.zero_grad()
        miss.backward()
        self.own.step()
"""
QUANTIZER = INSIDE_FORWARD.format(
    trained="[self.table]",
    body="""\
        flat = z.flatten(1)
        nearest = torch.cdist(flat.detach(), self.table.detach()).argmin(1)
        miss = (self.table[nearest] - flat).square().mean()
"""
    + OWN_STEP
    + """\
        code = self.table[nearest].detach()
        return flat + (code - flat).detach()
""",
)
RATIO = INSIDE_FORWARD.format(
    trained="self.net.parameters()",
    body="""\
        prior = torch.randn_like(z)
        miss = F.softplus(-self.net(prior)).mean() + F.softplus(self.net(z)).mean()
"""
    + OWN_STEP
    + "        return z - self.net(z)\n",
)
MEMORY = INSIDE_FORWARD.format(
    trained="self.net.parameters()",
    body="""\
        for _ in range(2):
            miss = F.mse_loss(self.net(z).tanh(), z)
"""
    + OWN_STEP.replace("        self", "            self").replace("        miss", "            miss")
    + "        return z + self.net(z).detach()\n",
)
NOT_ALONE = QUANTIZER.replace("SGD([self.table]", "SGD([self.table, *encoder.parameters()]").replace(
    "(code - flat).detach()", "(code - flat).detach() + 0 * self.net(flat)"
)

# A statement that only cuts.
ONLY_CUT = """
table = nn.Embedding(6, 4)
opt = torch.optim.SGD(table.parameters(), 0.1)
for step in range(3):
    rows = table.weight[:3]
    {cut}
    loss = rows.square().mean()
    {after}
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

# The losses of all steps in one list, which is summed where the pass is asked for.
LISTED = """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
losses = []
for step in range(3):
    for part in torch.randn(2, 5, 3):
        losses.append(net(part).square().mean())
    opt.zero_grad()
    {asking}
    opt.step()
{after}
"""

FIXED = {
    "a list of losses is summed where the pass is asked for": (
        LISTED.format(asking="sum(losses).backward()", after="print(step)"),
        "0.1)\nfor step in range(3):\n    losses = []\n",
    ),
    "a list of losses is stacked where the pass is asked for": (
        LISTED.format(asking="torch.stack(losses).sum().backward()", after="print(step)"),
        "0.1)\nfor step in range(3):\n    losses = []\n",
    ),
    "a list of losses is read below the loop, too": (
        LISTED.format(asking="sum(losses).backward()", after="print(len(losses))"),
        "0.1)\nlosses = []\nfor step in range(3):\n    losses = []\n",
    ),
    "a statement that only cuts goes": (
        ONLY_CUT.format(cut="rows = rows.detach()", after="print(step)"),
        "    rows = table.weight[:3]\n    loss = rows",
    ),
    "a statement that only takes the data goes": (
        ONLY_CUT.format(cut="rows = rows.data", after="print(step)"),
        "    rows = table.weight[:3]\n    loss = rows",
    ),
    "a statement that only makes a new tensor of a number goes": (
        ONLY_CUT.format(cut="print(step)", after="loss = torch.tensor(loss.item())"),
        "    loss = rows.square().mean()\n    opt.zero_grad()",
    ),
    "a cut that gets another name stays a statement": (
        ONLY_CUT.format(cut="part = rows.detach()", after="loss = part.mean()"),
        "    part = rows\n",
    ),
    "a table that a forward trains does without the features' graph": (
        QUANTIZER,
        "(self.table[nearest] - flat.detach()).square()",
    ),
    "a ratio that a forward trains does without the features' graph": (
        RATIO,
        "softplus(-self.net(prior)).mean() + F.softplus(self.net(z.detach())).mean()",
    ),
    "a memory that a forward trains in a loop does without the features' graph": (
        MEMORY,
        "F.mse_loss(self.net(z.detach()).tanh(), z.detach())",
    ),
    "a part that a forward trains together with what it is given": (NOT_ALONE, "miss.backward(retain_graph=True)"),
    "what a learned optimizer trains is cut already, and its state is not": (
        LEARNED.format(update=IN_PLACE, cut=OF_ITSELF),
        FORGOTTEN + OF_ITSELF,
    ),
    "what a learned optimizer gives is new in every step, and its state is not": (
        LEARNED.format(update=ANEW, cut=OF_NEW),
        FORGOTTEN + OF_NEW,
    ),
    "a state that is cut in one case is cut in each": (
        CHOSEN.format(read="state if kept else state.detach()"),
        "cell(torch.randn(2, 3), state.detach())",
    ),
    "a state that is cut in the other case is cut in each": (
        CHOSEN.format(read="state.detach() if not kept else state"),
        "cell(torch.randn(2, 3), state.detach())",
    ),
    "a state that is cut in one case by another name": (
        CHOSEN.format(read="state if kept else state.new_zeros(2, 4)"),
        "cell(torch.randn(2, 3), state.detach() if kept else state.new_zeros(2, 4))",
    ),
    "two losses of one game, each of its own player": (
        PLAYERS.format(passes=OTHER_LOSSES),
        "    second(first(x).softmax(1)).log_softmax(1)[:, 0].mean().square().backward(inputs=",
    ),
    "a step waits for a pass through a reversal": (REVERSAL, HELD),
    "a step waits for a pass through a scaling": (SCALING, HELD),
    "a step waits for a pass through a straight-through estimate": (STRAIGHT, HELD),
    "a value that its own network shapes is cut off another's loss": (CRITIC, "chosen * value.detach()"),
    "gradients of several batches are cleared below their step": (
        PILING.format(
            body="net(torch.randn(4, 3)).square().mean().backward()\n    if step % 3 == 2:\n        opt.step()"
        ),
        BELOW.format(" " * 8),
    ),
    "gradients of an inner loop are cleared below their step": (
        PILING.format(
            body="for _ in range(2):\n        net(torch.randn(4, 3)).square().mean().backward()\n    opt.step()"
        ),
        BELOW.format(" " * 4),
    ),
    "gradients of two losses are cleared below their step": (
        PILING.format(
            body="net(torch.randn(4, 3)).square().mean().backward()\n    net.weight.norm().backward()\n    opt.step()"
        ),
        BELOW.format(" " * 4),
    ),
    "gradients of one loss are cleared above it": (
        PILING.format(body="net(torch.randn(4, 3)).square().mean().backward()\n    opt.step()"),
        "    opt.zero_grad()\n    net(",
    ),
    "lists of an object that one pass uses up": (
        OF_AN_OBJECT,
        "    opt.step()\n    Episode.rewards.clear()\n    Episode.log_probs.clear()\n",
    ),
    "lists of a file that one pass uses up": (GLOBAL, "    opt.step()\n    rewards.clear()\n    log_probs.clear()\n"),
    "lists that are handed on, and one pass uses up": (
        HANDED_ON,
        "    opt.step()\n    rewards.clear()\n    log_probs.clear()\n",
    ),
    "a list of what later passes compare with stays, as numbers": (KEYS, ".detach()"),
    "a cache that an option fills is switched off": (CACHING.format(guard=FILLS, on=True), "Spread(3, cached=False)"),
    "a cache that an option answers from is switched off": (
        CACHING.format(guard=ANSWERS, on=True),
        "Spread(3, cached=False)",
    ),
    "a cache whose option is asked first is switched off": (
        CACHING.format(guard=NESTED, on=True),
        "Spread(3, cached=False)",
    ),
    "a cache that no option switches off goes": (
        CACHING.format(guard=ALWAYS, on=True),
        "x):\n        self.kept = self.inner(x).tanh()\n",
    ),
    "a head that is new above the freezing of all": (
        FROZEN.format(freezing=NEW + BY_ONE, trained="net.head.parameters()"),
        BY_ONE + NEW,
    ),
    "a head that is new above the freezing of all by name": (
        FROZEN.format(freezing=NEW + BY_NAME, trained="net.head.parameters()"),
        BY_NAME + NEW,
    ),
    "a head that is new above the freezing at once": (
        FROZEN.format(
            freezing=AT_ONCE.format(f"{NEW}    net.requires_grad_(False)\n"), trained="net.head.parameters()"
        ),
        f"    net.requires_grad_(False)\n    {NEW}",
    ),
    "a state whose network is clipped by hand": (CLIPPED, "h.detach()"),
    "a state whose network decays by hand": (DECAYED, "h.detach()"),
    "a mean of what a moving teacher says": (TEACHER, "centre.detach()"),
    "a memory of targets": (AIMED_AT.format(memory="[]", loss="F.mse_loss(values, torch.stack(targets))"), UNRECORDED),
    "a window of targets": (
        AIMED_AT.format(memory="deque(maxlen=5)", loss="F.smooth_l1_loss(values, torch.stack(targets))"),
        UNRECORDED,
    ),
    "a memory of targets, with a weighted loss": (
        AIMED_AT.format(memory="[]", loss="0.5 * F.huber_loss(values, torch.stack(targets)) + 0.1 * values.norm()"),
        UNRECORDED,
    ),
    "a memory of answers, whose step gives a number": (
        REPLAYED.format(training="losses = [observe(x) for x in torch.randn(6, 4, 3)]\nprint(sum(losses))"),
        ".detach()",
    ),
    "a memory of answers, whose numbers are listed": (
        REPLAYED.format(
            training="losses = []\nfor x in torch.randn(6, 4, 3):\n    loss = observe(x)\n    losses.append(loss)"
        ),
        ".detach()",
    ),
    "a memory of answers, whose step is printed": (
        REPLAYED.format(training="for x in torch.randn(6, 4, 3):\n    loss = observe(x)\n    print(loss)"),
        ".detach()",
    ),
    "weights that are projected come below their step": (
        PROJECTED.format(edited="small", edit="each.clamp_(min=0.0)", stepping=STEP),
        STEP + "    project(small)\n",
    ),
    "weights that are scaled come below the last step": (
        PROJECTED.format(edited="small", edit="each.div_(each.norm())", stepping="    other.step()\n" + STEP),
        STEP + "    project(small)\n",
    ),
    "weights that decay come below a step that is not always made": (
        PROJECTED.format(edited="small", edit="each *= 0.9", stepping="    if step % 2:\n    " + STEP),
        STEP + "    project(small)\n",
    ),
    "weights that no optimizer trains are changed below the pass": (
        PROJECTED.format(edited="copy", edit="each.clamp_(min=0.0)", stepping=STEP),
        "    loss.backward()\n    project(copy)\n" + STEP,
    ),
    "an inner pass for a leaf that the loss is computed from": (ENERGY, "energy.backward(retain_graph=True)"),
    "entries of a table that are read and written": (
        TABLE.format(best="torch.minimum(table[i - 1, j], table[i, j - 1])"),
        "torch.minimum(table[i - 1, j].clone(), table[i, j - 1].clone())",
    ),
    "a product of two entries": (
        TABLE.format(best="table[i - 1, j] * table[i, j - 1] / 9"),
        "table[i - 1, j].clone() * table[i, j - 1].clone() / 9",
    ),
    "a whole row that is read": (
        TABLE.format(best="table[i - 1, : j + 1].logsumexp(0)"),
        "table[i - 1, : j + 1].clone().logsumexp(0)",
    ),
    "a sum of entries saves nothing, and stays": (
        TABLE.format(best="(table[i - 1, j] + table[i, j - 1]) / 2"),
        "best = (table[i - 1, j] + table[i, j - 1]) / 2\n",
    ),
    "a pass that is asked of a term, and not of the total": (
        TOTAL.format(total="task + 0.1 * spread", asking="task.backward()"),
        "    loss.backward()\n",
    ),
    "a pass that is asked of a term through another call": (
        TOTAL.format(total="task + 0.1 * spread", asking="(task / 2).backward()"),
        "    (loss / 2).backward()\n",
    ),
    "a pass of what is no term of the total by its name": (
        TOTAL.format(total="0.1 * spread + task", asking="shown = task\n    shown.backward()"),
        "    shown.backward()\n",
    ),
    "a penalty that the source shows, and the run does not": (
        SUMMED_PENALTY.format(asked=""),
        "torch.autograd.grad(field(x).sum(), x, create_graph=True)",
    ),
    "a straight-through estimator is cut around the difference": (
        STRAIGHT_THROUGH.format(code="(z + (table - z)).detach()"),
        "    code = z + (table - z).detach()\n",
    ),
    "a straight-through estimator, written the other way": (
        STRAIGHT_THROUGH.format(code="((table - z) + z).detach()"),
        "    code = z + (table - z).detach()\n",
    ),
    "a sum of two tensors that is cut is no straight-through estimator": (
        STRAIGHT_THROUGH.format(code="(z + table).detach()"),
        "    code = (z + table)\n",
    ),
    "a loss that is read below its closure is what the step gives back": (
        LBFGS.format(more="", returned="loss", call="opt.step(closure)", below="print(loss.item())"),
        INSIDE + "            return loss\n\n        loss = opt.step(closure)\n",
    ),
    "a loss that nobody reads below its closure": (
        LBFGS.format(more="", returned="loss", call="opt.step(closure)", below="print(step)"),
        INSIDE + "            return loss\n\n        opt.step(closure)\n",
    ),
    "a loss that is what the step gives back already": (
        LBFGS.format(more="", returned="loss", call="loss = opt.step(closure)", below="print(loss.item())"),
        INSIDE + "            return loss\n\n        loss = opt.step(closure)\n",
    ),
    "what the closure does not give back is computed above it, too": (
        LBFGS.format(more="", returned="loss", call="opt.step(closure)", below="print(loss.item(), out.mean().item())"),
        "        out = net(x)\n\n        def closure",
    ),
}

# The program, and what is said about why nothing is written.
JOINT = """
body, one, two = nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(2, 1)
steps = {name: torch.optim.SGD(each.parameters(), 0.1) for name, each in (("body", body), ("one", one), ("two", two))}
for x in torch.randn(3, 5, 3):
    for each in steps.values():
        each.zero_grad()
    first = one(body(x).tanh())
    second = two(first.sigmoid())
    first.square().mean().backward(retain_graph=True)
    steps["one"].step()
    second.square().mean().backward()
    steps["two"].step()
    steps["body"].step()
"""

# A part that is computed again within the pass, and back-propagated there.
WITHIN = """
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h, *weights):
        ctx.save_for_backward(h)
        return part(h.detach())

    @staticmethod
    def backward(ctx, gradient):
        (h,) = ctx.saved_tensors
        h.retain_grad()
        with torch.enable_grad():
            torch.autograd.backward(part(h), gradient)
        return h.grad, *(None for _ in part.parameters())


stem, part = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 4), nn.Tanh())
opt = torch.optim.SGD([*stem.parameters(), *part.parameters()], 0.1)
for _ in range(3):
    opt.zero_grad()
    loss = Again.apply(stem(torch.randn(5, 3)).tanh(), *part.parameters()).square().mean()
    loss.backward()
    opt.step()
"""

REFUSED = {
    "a list of losses of which the mean is asked": (
        LISTED.format(asking="torch.stack(losses).mean().backward()", after="print(step)"),
        "it trains otherwise than what is meant",
    ),
    "a pass within a pass, over the same ops": (WITHIN, "only its author knows whether the inner backward() is to add"),
    "one loss, of which two players take the gradient": (PLAYERS.format(passes=BY_GRADIENTS), FROM_ONE_POINT),
    "one loss, of which two passes take the gradient": (PLAYERS.format(passes=BY_INPUTS), FROM_ONE_POINT),
    "two losses that have a term in common": (PLAYERS.format(passes=BY_TERMS), FROM_ONE_POINT),
    "a step between two passes whose gradients another takes together": (JOINT, "only its author knows whether"),
    "a memory of what a loss trains": (
        AIMED_AT.format(memory="[]", loss="F.mse_loss(torch.stack(targets), values)"),
        "it trains otherwise than the program before it failed",
    ),
    "a list that fits another one, which is filled elsewhere": (
        GLOBAL.replace("    rewards.append(float(x.sum()))\n", "")
        .replace("def finish", "def reward(x):\n    rewards.append(float(x.sum()))\n\n\ndef finish")
        .replace("        act(torch.randn(3))\n", "        x = torch.randn(3)\n        act(x)\n        reward(x)\n"),
        "no fix ends it",
    ),
    "all of a network is frozen, and nothing is new": (
        FROZEN.format(freezing=BY_ONE, trained="net.parameters()"),
        "cannot simply be left out",
    ),
    "weights that are projected, and no step is seen below": (
        PROJECTED.format(edited="small", edit="each.clamp_(min=0.0)", stepping="    update()\n").replace(
            "for step", "def update():\n    opt.step()\n\n\nfor step"
        ),
        "no line was found in which",
    ),
    "an inner pass for a disturbance": (DISTURBED, "only its author knows whether the later loss is to train what"),
    "an inner pass for a move": (MOVED, "only its author knows whether the later loss is to train what"),
    "an inner pass for a scale": (SCALED, "only its author knows whether the later loss is to train what"),
    "features that two losses share, with an optimizer each": (PROBE, FROM_ONE_POINT),
}


# What no run of the program can be compared with: it is the first that is shown, and written where that is asked for.
UNVERIFIED = frozenset(
    {
        "weights that are projected come below their step",
        "weights that are scaled come below the last step",
        "weights that decay come below a step that is not always made",
        "a pass that is asked of a term through another call",
    }
)


@pytest.mark.parametrize("name", FIXED)
def test_program_is_fixed_as_its_author_means_it(name: str, tmp_path: Path) -> None:
    """What is written is what an expert would write."""
    program, expected = FIXED[name]
    file = tmp_path / "train.py"
    file.write_text(HEAD + program, encoding="utf-8")

    done = fix(tmp_path, "--write", *["--unsafe"] * (name in UNVERIFIED), "--verify", "python train.py")

    assert expected in file.read_text(encoding="utf-8"), done.stderr


@pytest.mark.parametrize("name", REFUSED)
def test_refusal_says_why(name: str, tmp_path: Path) -> None:
    """Nothing is written, and the reason is one that its reader can act upon."""
    program, reason = REFUSED[name]
    file = tmp_path / "train.py"
    file.write_text(HEAD + program, encoding="utf-8")

    done = fix(tmp_path, "--write", "--verify", "python train.py")

    assert file.read_text(encoding="utf-8") == HEAD + program, done.stderr
    assert reason in " ".join(done.stdout.split()), done.stdout


def test_what_only_the_source_shows_says_where_it_comes_from(tmp_path: Path) -> None:
    """That a run shows nothing is no proof of a fix: the source must show the problem no more."""
    (tmp_path / "train.py").write_text(HEAD + SUMMED_PENALTY.format(asked=""), encoding="utf-8")

    done = fix(tmp_path, "--verify", "python train.py")

    assert "(the source shows it; the run did not)" in done.stderr
    assert "verified: the source shows this problem no more" in " ".join(done.stdout.split())


def test_right_program_is_left_alone(tmp_path: Path) -> None:
    """Neither its run nor its source shows a problem."""
    program = HEAD + SUMMED_PENALTY.format(asked=", create_graph=True")
    file = tmp_path / "train.py"
    file.write_text(program, encoding="utf-8")

    done = fix(tmp_path, "--write", "--verify", "python train.py")

    assert file.read_text(encoding="utf-8") == program
    assert "nothing to fix" in done.stderr


def test_what_a_run_counts_is_not_taken_from_source(tmp_path: Path) -> None:
    """The losses of three tasks, in a list that lives for one step: the source cannot know how few they are."""
    file = tmp_path / "train.py"
    file.write_text(HEAD + FEW_LOSSES, encoding="utf-8")

    done = fix(tmp_path, "--write", "--verify", "python train.py")

    assert file.read_text(encoding="utf-8") == HEAD + FEW_LOSSES
    assert "nothing to fix" in done.stderr
