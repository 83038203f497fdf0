"""Small programs that fail, each with the name that carried the graph, in as many shapes as people write."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Program:
    """A program, and the names that a reader would accept."""

    title: str
    names: frozenset[str]
    main: str
    other: str = ""  # a second module, `parts.py`


_HEAD = """\
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
"""


def _program(title: str, names: str, main: str, other: str = "") -> Program:
    return Program(title, frozenset(names.split(" | ")), _HEAD + main, _HEAD + other if other else "")


PROGRAMS = (
    _program(
        "hidden state of a cell",
        "h",
        """
def main():
    cell, head = nn.GRUCell(3, 4), nn.Linear(4, 1)
    opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    h = torch.zeros(2, 4)
    for _ in range(3):
        x = torch.randn(2, 3)
        h = cell(x, h)
        loss = head(h).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

main()
""",
    ),
    _program(
        "the new state is renamed at the end of the step",
        "h",
        """
cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
h = torch.zeros(2, 4)
for step in range(3):
    x = torch.randn(2, 3)
    new_h = cell(x, h)
    loss = head(new_h).pow(2).mean()
    loss.backward()
    h = new_h
""",
    ),
    _program(
        "an attribute two objects away",
        "self.state.value | agent.memory.state.value | self.memory.state.value",
        """
from parts import Memory

class Agent:
    def __init__(self):
        self.memory = Memory()
        self.head = nn.Linear(4, 1)

    def act(self, x):
        return self.head(self.memory.advance(x))

def main():
    agent = Agent()
    for _ in range(3):
        loss = agent.act(torch.randn(1, 4)).sum()
        loss.backward()

main()
""",
        """
class State:
    def __init__(self, width):
        self.value = torch.zeros(1, width)

class Memory:
    def __init__(self, width=4):
        self.state = State(width)
        self.mix = nn.Linear(width, width)

    def advance(self, x):
        updated = torch.tanh(self.mix(x) + self.mix(self.state.value))
        self.state.value = updated
        return updated
""",
    ),
    _program(
        "a registered buffer that is assigned",
        "self.running",
        """
class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))
        self.register_buffer("running", torch.zeros(4))

    def forward(self, x):
        y = x * self.scale
        self.running = 0.9 * self.running + 0.1 * y.mean(0)
        return y - self.running

def main():
    norm, head = Norm(), nn.Linear(4, 1)
    for _ in range(3):
        loss = head(norm(torch.randn(5, 4))).pow(2).mean()
        loss.backward()

main()
""",
    ),
    _program(
        "a list of states, the last one read",
        "states[-1] | states",
        """
def main():
    cell = nn.RNNCell(3, 4)
    states = [torch.zeros(1, 4)]
    for _ in range(3):
        out = cell(torch.randn(1, 3), states[-1])
        states.append(out)
        loss = out.pow(2).sum()
        loss.backward()

main()
""",
    ),
    _program(
        "a dict of states",
        'state["h"] | state',
        """
def step(cell, x, state):
    state["h"] = torch.tanh(cell(x) + state["h"])
    return state["h"]

def main():
    cell = nn.Linear(3, 4)
    state = {"h": torch.zeros(1, 4), "steps": 0}
    for _ in range(3):
        loss = step(cell, torch.randn(1, 3), state).pow(2).sum()
        state["steps"] += 1
        loss.backward()

main()
""",
    ),
    _program(
        "a dataclass that is replaced in every step",
        "carry.hidden | carry",
        """
from dataclasses import dataclass, replace

@dataclass
class Carry:
    hidden: torch.Tensor
    step: int

def advance(net, x, carry):
    hidden = torch.tanh(net(x) * (1 + carry.hidden))
    return Carry(hidden=hidden, step=carry.step + 1)

def main():
    net = nn.Linear(3, 4)
    carry = Carry(torch.zeros(1, 4), 0)
    for _ in range(3):
        carry = advance(net, torch.randn(1, 3), carry)
        loss = carry.hidden.pow(2).sum()
        loss.backward()

main()
""",
    ),
    _program(
        "a nonlocal of a closure",
        "previous",
        """
def make_step(net):
    previous = torch.zeros(1, 4)

    def step(x):
        nonlocal previous
        out = torch.sigmoid(net(x)) + 0.5 * previous ** 2
        previous = out
        return out

    return step

def main():
    step = make_step(nn.Linear(3, 4))
    for _ in range(3):
        step(torch.randn(1, 3)).sum().backward()

main()
""",
    ),
    _program(
        "a global of another module",
        "HISTORY | parts.HISTORY | HISTORY[-1]",
        """
import parts

def main():
    net = nn.Linear(3, 3)
    for _ in range(3):
        loss = parts.smooth(net(torch.randn(1, 3)).exp()).sum()
        loss.backward()

main()
""",
        """
HISTORY = []

def smooth(value):
    HISTORY.append(value)
    return torch.stack(HISTORY[-2:]).prod(0)
""",
    ),
    _program(
        "a global that a function sets",
        "baseline",
        """
baseline = torch.zeros(())

def advantage(value):
    global baseline
    result = value * (1 + baseline)
    baseline = 0.9 * baseline + 0.1 * value
    return result

net = nn.Linear(3, 1)
for _ in range(3):
    loss = advantage(net(torch.randn(4, 3)).exp().mean())
    loss.backward()
""",
    ),
    _program(
        "the pair of an LSTM in one attribute",
        "self.state | self.state[0] | self.state[1]",
        """
class Tracker(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4)
        self.out = nn.Linear(4, 1)
        self.state = None

    def forward(self, x):
        y, self.state = self.lstm(x, self.state)
        return self.out(y)

def main():
    model = Tracker()
    for _ in range(3):
        loss = model(torch.randn(2, 1, 3)).pow(2).mean()
        loss.backward()

main()
""",
    ),
    _program(
        "only one of a pair is detached",
        "c | state[1] | state",
        """
def main():
    cell = nn.LSTMCell(3, 4)
    h, c = torch.zeros(1, 4), torch.zeros(1, 4)
    for _ in range(3):
        h, c = cell(torch.randn(1, 3), (h.detach(), c))
        loss = h.pow(2).sum()
        loss.backward()

main()
""",
    ),
    _program(
        "computed once, handed out by zip",
        "targets",
        """
def main():
    teacher, student = nn.Linear(3, 2), nn.Linear(3, 2)
    inputs = torch.randn(6, 3)
    targets = torch.tanh(teacher(inputs))
    opt = torch.optim.SGD(student.parameters(), lr=0.1)
    for x, y in zip(inputs.split(2), targets.split(2)):
        loss = F.mse_loss(student(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()

main()
""",
    ),
    _program(
        "computed once, handed out by a DataLoader",
        "features | dataset",
        """
from torch.utils.data import DataLoader, TensorDataset

class Collate:
    def __call__(self, batch):
        return torch.stack([x for x, _ in batch]), torch.stack([y for _, y in batch])

def main():
    encoder, head = nn.Linear(3, 4), nn.Linear(4, 1)
    raw, labels = torch.randn(8, 3), torch.randn(8, 1)
    features = torch.relu(encoder(raw))
    dataset = TensorDataset(features, labels)
    loader = DataLoader(dataset, batch_size=4, collate_fn=Collate())
    opt = torch.optim.SGD(head.parameters(), lr=0.1)
    for x, y in loader:
        loss = F.mse_loss(head(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()

main()
""",
    ),
    _program(
        "a running total through a helper that sums a dict",
        "total",
        """
def combined(losses, weights):
    return sum(weights[name] * loss for name, loss in losses.items())

def main():
    net = nn.Linear(3, 2)
    total = 0.0
    for _ in range(3):
        out = net(torch.randn(4, 3))
        losses = {"fit": out.pow(2).mean(), "size": out.abs().mean()}
        total = total + combined(losses, {"fit": 1.0, "size": 0.1})
        total.backward()

main()
""",
    ),
    _program(
        "two losses of one encoder, summed from a dict",
        "z",
        """
def losses_of(model, x):
    z = model["enc"](x).relu()
    return {"a": model["a"](z).pow(2).mean(), "b": model["b"](z).abs().mean()}

def main():
    model = nn.ModuleDict({"enc": nn.Linear(3, 4), "a": nn.Linear(4, 1), "b": nn.Linear(4, 1)})
    losses = losses_of(model, torch.randn(5, 3))
    for loss in losses.values():
        loss.backward()

main()
""",
    ),
    _program(
        "a generator that keeps its own state",
        "h",
        """
def rollout(cell, xs):
    h = torch.zeros(1, 4)
    for x in xs:
        h = cell(x, h)
        yield h

def main():
    cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
    for h_t in rollout(cell, torch.randn(5, 1, 3)):
        loss = head(h_t).pow(2).sum()
        loss.backward()

main()
""",
    ),
    _program(
        "a library's distribution made once",
        "policy | scale | logits",
        """
def main():
    logits = nn.Parameter(torch.zeros(4))
    scale = logits.exp()
    policy = torch.distributions.Categorical(probs=scale)
    for _ in range(3):
        action = policy.sample()
        loss = -policy.log_prob(action)
        loss.backward()

main()
""",
    ),
    _program(
        "a deque of past outputs",
        "self.recent | agent.recent",
        """
from collections import deque

class Smoother(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)
        self.recent = deque(maxlen=3)

    def forward(self, x):
        self.recent.append(self.net(x).tanh())
        return torch.stack(list(self.recent)).mean(0)

def main():
    model = Smoother()
    for _ in range(3):
        model(torch.randn(1, 3)).pow(2).sum().backward()

main()
""",
    ),
    _program(
        "a generator network's output in both losses",
        "fake",
        """
class Trainer:
    def __init__(self):
        self.gen, self.disc = nn.Linear(2, 3), nn.Linear(3, 1)
        self.opt_g = torch.optim.SGD(self.gen.parameters(), lr=0.1)
        self.opt_d = torch.optim.SGD(self.disc.parameters(), lr=0.1)

    def disc_step(self, real, fake):
        loss = F.softplus(self.disc(fake)).mean() + F.softplus(-self.disc(real)).mean()
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()

    def gen_step(self, fake):
        loss = F.softplus(-self.disc(fake)).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()

def main():
    trainer = Trainer()
    for _ in range(2):
        fake = torch.tanh(trainer.gen(torch.randn(4, 2)))
        trainer.disc_step(torch.randn(4, 3), fake)
        trainer.gen_step(fake)

main()
""",
    ),
    _program(
        "the same loss, in a wrapper",
        "loss",
        """
class Engine:
    def backward(self, value):
        value.backward()

def main():
    net, engine = nn.Linear(3, 1), Engine()
    loss = net(torch.randn(4, 3)).pow(2).mean()
    for _ in range(2):
        engine.backward(loss)

main()
""",
    ),
    _program(
        "the losses of an episode, kept over episodes",
        "self.losses | learner.losses",
        """
class Learner:
    def __init__(self):
        self.policy = nn.Linear(3, 2)
        self.opt = torch.optim.SGD(self.policy.parameters(), lr=0.1)
        self.losses = []

    def remember(self, x):
        self.losses.append(-F.log_softmax(self.policy(x), dim=-1)[0])

    def learn(self):
        loss = torch.stack(self.losses).sum()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

def main():
    learner = Learner()
    for _ in range(2):
        for _ in range(3):
            learner.remember(torch.randn(3))
        learner.learn()

main()
""",
    ),
    _program(
        "a cache filled on first use",
        'self._cache | self._cache["freqs"] | self._cache[8]',
        """
class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_base = nn.Parameter(torch.zeros(4))
        self._cache = {}

    def table(self, length):
        if length not in self._cache:
            angles = torch.arange(length).unsqueeze(1) * self.log_base.exp()
            self._cache[length] = angles.cos()
        return self._cache[length]

    def forward(self, x):
        return x * self.table(x.shape[0])

def main():
    rotary, proj = Rotary(), nn.Linear(4, 4)
    for _ in range(2):
        rotary(proj(torch.randn(8, 4))).pow(2).mean().backward()

main()
""",
    ),
    _program(
        "a memoised function",
        "kernel",
        """
from functools import lru_cache

log_width = nn.Parameter(torch.zeros(()))

@lru_cache(maxsize=None)
def kernel(n):
    points = torch.arange(n, dtype=torch.float32)
    return torch.exp(-points ** 2 / log_width.exp())

def main():
    net = nn.Linear(3, 5)
    for _ in range(2):
        loss = (net(torch.randn(2, 3)) * kernel(5)).pow(2).mean()
        loss.backward()

main()
""",
    ),
    _program(
        "a tensor edited in place over steps",
        "memory",
        """
def main():
    net = nn.Linear(3, 4)
    memory = torch.zeros(4, 4)
    for step in range(3):
        memory[step] = torch.tanh(net(torch.randn(3)))
        loss = (memory * memory).sum()
        loss.backward()

main()
""",
    ),
    _program(
        "the previous output as input, through a tuple",
        "prev | state | state[0]",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)

    def forward(self, x, state):
        prev, count = state
        out = torch.tanh(self.a(x) + self.a(prev))
        return out, (out, count + 1)

def main():
    net = Net()
    state = (torch.zeros(1, 3), 0)
    for _ in range(3):
        out, state = net(torch.randn(1, 3), state)
        F.mse_loss(out, torch.ones_like(out)).backward()

main()
""",
    ),
    _program(
        "gradient penalty that frees the critic's graph",
        "scores",
        """
def penalty(scores, x):
    (grad,) = torch.autograd.grad(scores.sum(), x)
    return grad.norm()

def main():
    critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.randn(5, 3, requires_grad=True)
    scores = critic(x)
    size = penalty(scores, x)
    loss = -scores.mean() + 0.1 * size
    loss.backward()

main()
""",
    ),
    _program(
        "layers of a model each keep their state",
        "self.memory",
        """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.memory = torch.zeros(1, 3)

    def forward(self, x):
        out = torch.tanh(self.lin(x) + self.memory)
        self.memory = out
        return out

def main():
    model = nn.Sequential(Layer(), nn.ReLU(), Layer())
    for _ in range(3):
        loss = model(torch.randn(1, 3)).pow(2).sum()
        loss.backward()

main()
""",
    ),
    _program(
        "propagated once an epoch, looked up by index",
        "users | items | user_emb | item_emb",
        """
class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(7, 4)
        self.adj = torch.rand(7, 7).softmax(1)

    def propagate(self):
        layers = [self.emb.weight]
        for _ in range(2):
            layers.append(torch.tanh(self.adj @ layers[-1]))
        return torch.stack(layers).mean(0).split([3, 4])

def main():
    model = Graph()
    opt = torch.optim.Adam(model.parameters(), lr=0.1)
    for epoch in range(1):
        users, items = model.propagate()
        for batch in torch.randint(0, 3, (4, 5)):
            scores = (users[batch] * items[batch]).sum(1)
            loss = F.softplus(-scores).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()

main()
""",
    ),
    _program(
        "an object that is called, beside a library's",
        "self.value",
        """
class Smoother:
    def __init__(self):
        self.value = None

    def __call__(self, loss):
        self.value = loss if self.value is None else 0.9 * self.value + 0.1 * loss
        return self.value

def main():
    model, smooth = nn.Sequential(nn.Linear(3, 1), nn.Tanh()), Smoother()
    for _ in range(3):
        loss = smooth(F.mse_loss(model(torch.ones(2, 3)), torch.zeros(2, 1)))
        loss.backward()

main()
""",
    ),
    _program(
        "an optimizer's closure that keeps the features",
        "phi",
        """
def fit(encoder, head, x, y):
    phi = torch.tanh(encoder(x))
    opt = torch.optim.LBFGS(head.parameters(), max_iter=3)

    def closure():
        opt.zero_grad()
        loss = F.mse_loss(head(phi), y)
        loss.backward()
        return loss

    opt.step(closure)

fit(nn.Linear(3, 4), nn.Linear(4, 1), torch.randn(6, 3), torch.randn(6, 1))
""",
    ),
    _program(
        "a named tuple in an attribute",
        "self.carry.h | self.carry | model.carry.h",
        """
from typing import NamedTuple

class Carry(NamedTuple):
    h: torch.Tensor
    t: int

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Linear(3, 3)
        self.carry = Carry(torch.zeros(1, 3), 0)

    def forward(self, x):
        h = torch.tanh(self.w(x + self.carry.h))
        self.carry = Carry(h, self.carry.t + 1)
        return h

def main():
    model = Model()
    for _ in range(3):
        model(torch.randn(1, 3)).sum().backward()

main()
""",
    ),
    _program(
        "enumerate over a list that was computed before",
        "anchors | center",
        """
def main():
    embed, head = nn.Embedding(4, 3), nn.Linear(3, 1)
    anchors = [embed(torch.tensor(i)).sigmoid() for i in range(4)]
    center = torch.stack(anchors).mean(0)
    for i, anchor in enumerate(anchors):
        loss = (head(anchor) * (anchor - center).pow(2).sum()).mean()
        loss.backward()

main()
""",
    ),
    _program(
        "a property that gives the graph back",
        "self._mean | stats._mean | self.total | stats.mean",
        """
class Stats:
    def __init__(self):
        self._mean = torch.zeros(3)

    @property
    def mean(self):
        return self._mean

    def add(self, batch):
        self._mean = self._mean * 0.9 + batch.mean(0).exp() * 0.1

def main():
    net, stats = nn.Linear(3, 3), Stats()
    for _ in range(3):
        out = net(torch.randn(4, 3))
        loss = (out - stats.mean).pow(2).mean()
        stats.add(out)
        loss = loss + stats.mean.sum()
        loss.backward()

main()
""",
    ),
    _program(
        "a callback object that a user's trainer calls",
        "self.ema",
        """
class Ema:
    def __init__(self):
        self.ema = None

    def on_output(self, out):
        self.ema = out if self.ema is None else torch.lerp(self.ema, out, 0.5)
        return self.ema

class Trainer:
    def __init__(self, model, callbacks):
        self.model, self.callbacks = model, callbacks

    def step(self, x):
        out = self.model(x).tanh()
        for callback in self.callbacks:
            out = callback.on_output(out)
        out.pow(2).mean().backward()

def main():
    trainer = Trainer(nn.Linear(3, 3), [Ema()])
    for _ in range(3):
        trainer.step(torch.randn(2, 3))

main()
""",
    ),
    _program(
        "state passed through keyword arguments",
        "hidden",
        """
def forward(net, *, x, hidden=None):
    mixed = net(x) if hidden is None else net(x) * hidden
    return {"out": mixed.sum(), "hidden": torch.tanh(mixed)}

def main():
    net = nn.Linear(3, 4)
    hidden = None
    for _ in range(3):
        result = forward(net, x=torch.randn(1, 3), hidden=hidden)
        hidden = result["hidden"]
        (result["out"] + hidden.sum()).backward()

main()
""",
    ),
    _program(
        "a detach whose result is dropped",
        "hidden",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 4, batch_first=True)
        self.fc = nn.Linear(4, 1)

    def forward(self, x, hidden):
        out, hidden = self.rnn(x, hidden)
        return self.fc(out[:, -1]), hidden

def train(model, data):
    opt = torch.optim.Adam(model.parameters())
    hidden = torch.zeros(1, 2, 4)
    for x, y in data:
        hidden.detach()
        pred, hidden = model(x, hidden)
        loss = F.mse_loss(pred, y)
        opt.zero_grad()
        loss.backward()
        opt.step()

train(Net(), [(torch.randn(2, 5, 3), torch.randn(2, 1)) for _ in range(3)])
""",
    ),
    _program(
        "messages between agents in a queue",
        "self.inbox | agent.inbox",
        """
from parts import Agent

def main():
    agents = [Agent(i) for i in range(2)]
    opt = torch.optim.SGD([p for a in agents for p in a.net.parameters()], lr=0.1)
    for _ in range(3):
        loss = 0
        for i, agent in enumerate(agents):
            out = agent.act(torch.randn(1, 3))
            agents[1 - i].receive(out)
            loss = loss + out.pow(2).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()

main()
""",
        """
class Agent:
    def __init__(self, number):
        self.number = number
        self.net = nn.Linear(3, 3)
        self.inbox = []

    def receive(self, message):
        self.inbox.append(message)

    def act(self, x):
        if self.inbox:
            x = x + self.inbox.pop()
        return torch.tanh(self.net(x))
""",
    ),
    _program(
        "values collected for a critic that already learnt",
        "values | value",
        """
def main():
    actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
    opt_c = torch.optim.SGD(critic.parameters(), lr=0.1)
    opt_a = torch.optim.SGD(actor.parameters(), lr=0.1)
    states = torch.randn(5, 3)
    values = critic(states).sigmoid().squeeze(1)
    returns = torch.randn(5)
    critic_loss = F.mse_loss(values, returns)
    opt_c.zero_grad()
    critic_loss.backward()
    opt_c.step()
    logp = F.log_softmax(actor(states), dim=1)[:, 0]
    actor_loss = -(logp * (returns - values)).mean()
    opt_a.zero_grad()
    actor_loss.backward()

main()
""",
    ),
    _program(
        "a class attribute",
        "Pool.shared | self.shared | cls.shared | pool.shared",
        """
class Pool(nn.Module):
    shared = torch.zeros(3)

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        out = torch.tanh(self.lin(x)) + Pool.shared
        Pool.shared = out.mean(0).exp()
        return out * Pool.shared

pool = Pool()
for _ in range(3):
    pool(torch.randn(2, 3)).sum().backward()
""",
    ),
    _program(
        "setattr in a loop over layers",
        "block.previous",
        """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.previous = None

def run(blocks, x):
    for block in blocks:
        y = torch.tanh(block.lin(x))
        if block.previous is not None:
            y = y * block.previous
        setattr(block, "previous", y)
        x = y
    return x

def main():
    blocks = nn.ModuleList([Block(), Block()])
    for _ in range(3):
        run(blocks, torch.randn(1, 3)).sum().backward()

main()
""",
    ),
    _program(
        "a lambda that closes over the features",
        "features",
        """
def objectives(encoder, heads, x):
    features = encoder(x).exp()
    return [lambda head=head: head(features).pow(2).mean() for head in heads]

def main():
    encoder, heads = nn.Linear(3, 4), [nn.Linear(4, 1), nn.Linear(4, 1)]
    for objective in objectives(encoder, heads, torch.randn(5, 3)):
        objective().backward()

main()
""",
    ),
    _program(
        "functools.partial over a computed kernel",
        "kernel | smooth",
        """
from functools import partial

def apply(kernel, x):
    return x @ kernel

def main():
    raw, net = nn.Parameter(torch.randn(3, 3)), nn.Linear(3, 3)
    kernel = torch.softmax(raw, dim=0)
    smooth = partial(apply, kernel)
    for _ in range(3):
        loss = smooth(net(torch.randn(2, 3))).pow(2).mean()
        loss.backward()

main()
""",
    ),
    _program(
        "several lines, a walrus and a conditional expression",
        "carry",
        """
def main():
    net = nn.Linear(4, 4)
    carry = None
    for step in range(3):
        x = torch.randn(1, 4)
        if (y := net(x)) is not None:
            mixed = torch.cat(
                [
                    y,
                    y if carry is None else carry,
                ],
                dim=0,
            )
            carry = torch.tanh(
                mixed.mean(0, keepdim=True)
            )
        loss = carry.pow(2).sum()
        loss.backward()

main()
""",
    ),
    _program(
        "a while loop and an unpacked star",
        "rest | window",
        """
def main():
    net = nn.Linear(2, 2)
    window = [torch.zeros(2), torch.zeros(2), torch.zeros(2)]
    step = 0
    while step < 3:
        _, *rest = window
        new = torch.sigmoid(net(torch.randn(2)) + sum(rest))
        window = [*rest, new]
        new.sum().backward()
        step += 1

main()
""",
    ),
    _program(
        "the teacher's moving average of weights with its graph",
        "self.shadow",
        """
class Teacher:
    def __init__(self, student):
        self.shadow = [p.detach().clone() for p in student.parameters()]

    def update(self, student):
        self.shadow = [0.9 * s + 0.1 * p.exp() for s, p in zip(self.shadow, student.parameters())]

    def predict(self, x):
        weight, bias = self.shadow
        return x @ weight.t() + bias

def main():
    student = nn.Linear(3, 2)
    teacher = Teacher(student)
    for _ in range(3):
        x = torch.randn(4, 3)
        loss = F.mse_loss(student(x), teacher.predict(x))
        teacher.update(student)
        loss = loss + teacher.predict(x).pow(2).mean()
        loss.backward()

main()
""",
    ),
    _program(
        "a mixin's method stores, a subclass reads",
        "self._last",
        """
class Remembers:
    _last = None

    def remember(self, value):
        self._last = value
        return value

class Net(Remembers, nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        bias = 0 if self._last is None else self._last
        return self.remember(torch.tanh(self.lin(x) + bias))

net = Net()
for _ in range(3):
    net(torch.randn(1, 3)).sum().backward()
""",
    ),
    _program(
        "a decorated step that a scheduler calls",
        "self.context",
        """
from functools import wraps

def timed(function):
    @wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper

class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(3, 3)
        self.context = torch.zeros(1, 3)

    @timed
    def step(self, x):
        attended = torch.softmax(self.read(x + self.context), dim=1)
        self.context = attended * x
        return self.context

def main():
    writer = Writer()
    steps = [writer.step for _ in range(3)]
    for step in steps:
        loss = step(torch.randn(1, 3)).pow(2).sum()
        loss.backward()

main()
""",
    ),
    _program(
        "a bank of features by class, read with a computed key",
        "bank | self.bank",
        """
class Prototypes:
    def __init__(self):
        self.bank = {}

    def update(self, features, labels):
        for label in labels.unique().tolist():
            mean = features[labels == label].mean(0)
            old = self.bank.get(label)
            self.bank[label] = mean if old is None else 0.5 * old + 0.5 * mean

    def loss(self, features, labels):
        return sum((f - self.bank[int(y)]).pow(2).sum() for f, y in zip(features, labels))

def main():
    net, prototypes = nn.Linear(3, 2), Prototypes()
    for _ in range(3):
        x, y = torch.randn(6, 3), torch.tensor([0, 1, 0, 1, 0, 1])
        features = torch.tanh(net(x))
        prototypes.update(features, y)
        prototypes.loss(features, y).backward()

main()
""",
    ),
    _program(
        "two forward passes, one encoder output kept in self",
        "self.code | model.code",
        """
class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(4, 2), nn.Linear(2, 4)
        self.code = None

    def forward(self, x):
        self.code = torch.tanh(self.enc(x))
        return self.dec(self.code)

    def sparsity(self):
        return self.code.abs().mean()

def main():
    model = AutoEncoder()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(5, 4)
    loss = F.mse_loss(model(x), x)
    loss.backward()
    opt.step()
    penalty = model.sparsity()
    penalty.backward()

main()
""",
    ),
    _program(
        "the noise estimate of a kalman-like filter, over functions",
        "cov | covariance | state",
        """
def predict(model, mean, cov):
    f = model["f"]
    return f @ mean, f @ cov @ f.t()

def correct(model, mean, cov, z):
    gain = cov / (cov + model["r"].exp())
    residual = z - mean
    return mean + gain @ residual, cov - gain @ cov, residual

def main():
    model = {"f": nn.Parameter(torch.eye(2)), "r": nn.Parameter(torch.zeros(2, 2))}
    mean, cov = torch.zeros(2), torch.eye(2)
    for _ in range(3):
        mean, cov = predict(model, mean.detach(), cov)
        mean, cov, residual = correct(model, mean, cov, torch.randn(2))
        loss = residual.pow(2).sum() + cov.trace()
        loss.backward()

main()
""",
    ),
    _program(
        "an accumulated penalty in a module, summed by a helper",
        "self.penalties | layer.penalties",
        """
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.logit = nn.Parameter(torch.zeros(3))
        self.penalties = []

    def forward(self, x):
        gate = torch.sigmoid(self.logit)
        self.penalties.append(gate.sum())
        return x * gate

def penalty(model):
    total = 0
    for layer in model.modules():
        if isinstance(layer, Gate):
            total = total + sum(layer.penalties)
    return total

def main():
    model = nn.Sequential(nn.Linear(3, 3), Gate(), nn.Linear(3, 1))
    for _ in range(3):
        loss = model(torch.randn(4, 3)).pow(2).mean() + 0.1 * penalty(model)
        loss.backward()

main()
""",
    ),
    _program(
        "gradients by autograd.grad, then the inner loss again",
        "inner",
        """
def adapt(weight, inner):
    (grad,) = torch.autograd.grad(inner, weight)
    return weight - 0.1 * grad

def main():
    weight = torch.randn(3, requires_grad=True)
    x = torch.randn(5, 3)
    inner = (x @ weight).pow(2).mean()
    fast = adapt(weight, inner)
    outer = (x @ fast).abs().mean() + inner
    outer.backward()

main()
""",
    ),
    _program(
        "the last batch's output where this one was skipped",
        "out | loss",
        """
def main():
    net = nn.Linear(3, 1)
    batches = [torch.randn(4, 3), torch.randn(0, 3), torch.randn(4, 3)]
    for x in batches:
        if len(x):
            out = net(x).exp()
        loss = out.pow(2).mean()
        loss.backward()

main()
""",
    ),
    _program(
        "an iterator of precomputed contexts",
        "contexts | chunks",
        """
def main():
    encoder, decoder = nn.Linear(3, 4), nn.Linear(4, 1)
    contexts = torch.tanh(encoder(torch.randn(6, 3)))
    chunks = iter(contexts.chunk(3))
    opt = torch.optim.SGD(decoder.parameters(), lr=0.1)
    for _ in range(3):
        context = next(chunks)
        loss = decoder(context).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

main()
""",
    ),
    _program(
        "a term that an object keeps and hands out",
        "self.value",
        """
class Penalty:
    def __init__(self, module):
        self.module, self.value = module, None

    def __call__(self):
        if self.value is None:
            self.value = sum(each.square().sum() for each in self.module.parameters())
        return self.value

def main():
    net = nn.Linear(3, 1)
    penalty = Penalty(net)
    for _ in range(3):
        loss = nn.functional.mse_loss(net(torch.randn(4, 3)), torch.zeros(4, 1)) + 0.1 * penalty()
        loss.backward()

main()
""",
    ),
    _program(
        "a list of an object's that was long before it was used again",
        "policy.saved",
        """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.saved = nn.Linear(3, 1), []

policy = Policy()

def act():
    policy.saved.append((policy.linear(torch.randn(3)).exp(), 1.0))

def learn():
    losses = []
    for log_prob, reward in policy.saved:
        losses.append(-log_prob * reward)
    torch.stack(losses).sum().backward()

for _ in range(3):
    for _ in range(40):
        act()
    learn()
""",
    ),
    _program(
        "a slotted node in a linked list",
        "node.value | self.head.value | self.head | self.value | head.value",
        """
class Node:
    __slots__ = ("next", "value")

    def __init__(self, value, next):
        self.value = value
        self.next = next

def total(node):
    result = 0
    while node is not None:
        result = result + node.value
        node = node.next
    return result

def main():
    net, head = nn.Linear(3, 1), None
    for _ in range(3):
        head = Node(net(torch.randn(3)).exp(), head)
        loss = total(head).sum()
        loss.backward()

main()
""",
    ),
)
