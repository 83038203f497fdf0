"""Programs that fail, by the rule that names what carried the graph: some under it, and a near miss beyond it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Program:
    """A program, and the names that a reader would accept."""

    title: str
    names: frozenset[str]
    main: str
    other: str = ""  # a second module, `parts.py`


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule in a sentence, programs that it names, and near misses, which it must leave to another rule."""

    sentence: str
    under: tuple[Program, ...]
    beyond: tuple[Program, ...]


_IMPORTS = "import torch\nfrom torch import nn\n"


def _program(title: str, names: str, main: str, other: str = "") -> Program:
    return Program(title, frozenset(names.split(" | ")), main, _IMPORTS + other if other else "")


RULES = (
    Rule(
        "What a memo was filled with in an earlier step is called by the memo, if the memo has it still.",
        under=(
            _program(
                "vectors of words, each computed once",
                "self.memo",
                """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 4)
        self.memo = {}

    def embed(self, key):
        if key in self.memo:
            return self.memo[key]
        value = torch.tanh(self.lin(torch.full((3,), float(key))))  # created
        self.memo[key] = value
        return value

encoder = Encoder()
opt = torch.optim.SGD(encoder.parameters(), lr=0.1)
for keys in ([0, 1], [1, 2], [2, 3]):
    loss = torch.stack([encoder.embed(key) for key in keys]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _program(
                "subtrees that are computed from one another",
                "self.known",
                """
class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf, self.join = nn.Parameter(torch.ones(4)), nn.Linear(8, 4)
        self.known = {}

    def of(self, key):
        found = self.known.get(key)
        if found is None:
            found = self.leaf.tanh() if key < 2 else self.join(torch.cat([self.of(key - 1), self.of(key - 2)])).tanh()
            self.known[key] = found
        return found

tree = Tree()
opt = torch.optim.SGD(tree.parameters(), lr=0.1)
for key in (4, 5, 6):
    loss = tree.of(key).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _program(
                "a dict of the file, asked by an exception",
                "codes",
                """
lin = nn.Linear(3, 4)
opt = torch.optim.SGD(lin.parameters(), lr=0.1)
codes = {}

def code_of(key):
    try:
        return codes[key]
    except KeyError:
        codes[key] = torch.sigmoid(lin(torch.full((3,), float(key))))  # created
        return codes[key]

for keys in ([0, 1], [1, 2], [2, 3]):
    loss = sum(code_of(key).square().sum() for key in keys)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _program(
                "a state of each user, carried on",
                "states | states[key]",
                """
cell = nn.GRUCell(3, 4)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
states = {}
for keys in ([0, 1], [1, 2], [2, 3]):
    loss = 0.0
    for key in keys:
        if key not in states:
            states[key] = torch.zeros(4)
        states[key] = cell(torch.full((3,), float(key)), states[key])
        loss = loss + states[key].square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _program(
                "a memo that every step empties, and what was taken from it",
                "last",
                """
lin = nn.Linear(3, 4)
opt = torch.optim.SGD(lin.parameters(), lr=0.1)
codes = {}

def code_of(key):
    if key not in codes:
        codes[key] = torch.sigmoid(lin(torch.full((3,), float(key))))
    return codes[key]

last = torch.zeros(4)
for keys in ([0, 1], [1, 2], [2, 3]):
    loss = sum((code_of(key) - last).square().sum() for key in keys)
    opt.zero_grad()
    loss.backward()
    last = code_of(keys[0])
    codes.clear()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "The variable was stored before the graph was freed, and is read after it.",
        under=(
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
                "values collected for a critic that already learnt",
                "value | values",
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
                "the last batch's output where this one was skipped",
                "loss | out",
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
        ),
        beyond=(
            _program(
                "what was computed from it after the pass is only on the path",
                "z",
                """
def main():
    encoder, first, second = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)
    z = torch.tanh(encoder(torch.randn(5, 3)))
    first(z).pow(2).mean().backward()
    scaled = z * 2
    second(scaled).pow(2).mean().backward()

main()
""",
            ),
        ),
    ),
    Rule(
        "A loop carried it on: it is stored further down than it is read, be it after the pass.",
        under=(
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
                "a message that two networks exchange",
                "message",
                """
def main():
    a, b = nn.Linear(3, 3), nn.Linear(3, 3)
    oa, ob = torch.optim.SGD(a.parameters(), 0.1), torch.optim.SGD(b.parameters(), 0.1)
    message = torch.zeros(2, 3)
    for turn in range(4):
        if turn % 2 == 0:
            speaker, opt = a, oa
        else:
            speaker, opt = b, ob
        reply = torch.tanh(speaker(message))
        loss = reply.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        message = reply
main()
""",
            ),
            _program(
                "two variables that are swapped at the end",
                "cur | old",
                """
def main():
    net = nn.Linear(3, 3)
    old, cur = torch.zeros(3), torch.zeros(3)
    for _ in range(4):
        nxt = torch.tanh(net(cur)) + torch.sigmoid(old)
        nxt.pow(2).sum().backward()
        old, cur = cur, nxt
main()
""",
            ),
            _program(
                "state given as a keyword, kept after the pass",
                "kept",
                """
def forward(net, x, **extra):
    memory = extra.get("memory")
    y = net(x)
    if memory is not None:
        y = y * torch.sigmoid(memory)
    return y

def main():
    net = nn.Linear(3, 3)
    kept = None
    for _ in range(3):
        y = forward(net, torch.randn(2, 3), memory=kept)
        y.pow(2).sum().backward()
        kept = y
main()
""",
            ),
        ),
        beyond=(
            _program(
                "a copy that is read below, in the same iteration",
                "y",
                """
def main():
    net, head = nn.Linear(3, 3), nn.Linear(3, 1)
    for x in torch.randn(2, 4, 3):
        y = torch.tanh(net(x))
        y.sum().backward()
        copy = y
        head(copy).sum().backward()

main()
""",
            ),
        ),
    ),
    Rule(
        "Where the variable holds it inside an object, the variable in there is named, if it still has it.",
        under=(
            _program(
                "computed once, handed out by a DataLoader",
                "dataset | features",
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
                "a dataset that is read by index",
                "features | pairs",
                """
from torch.utils.data import TensorDataset

def main():
    encoder, head = nn.Linear(3, 4), nn.Linear(4, 1)
    features = torch.relu(encoder(torch.randn(6, 3)))
    pairs = TensorDataset(features, torch.randn(6, 1))
    for i in range(3):
        x, y = pairs[i]
        F.mse_loss(head(x), y).backward()

main()
""",
            ),
        ),
        beyond=(
            _program(
                "the variable in there is gone: its function has returned",
                "carry | carry.hidden",
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
        ),
    ),
    Rule(
        "A statement stores when all that it calls has returned: what was running then holds nothing of it yet.",
        under=(
            _program(
                "energy and forces, given back together",
                "energy",
                """
def energy_and_forces(net, at):
    energy = net(at).pow(2)
    force, = torch.autograd.grad(energy.sum(), at)
    return energy, -force

def main():
    net = nn.Linear(3, 1)
    given = energy_and_forces(net, torch.randn(4, 3, requires_grad=True))
    energy, force = given
    (energy.mean() + force.mean()).backward()

main()
""",
            ),
            _program(
                "energy and forces in a dict that a model gives back",
                "energy",
                """
class Potential(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 1)

    def forward(self, at):
        energy = self.net(at).pow(2)
        force, = torch.autograd.grad(energy.sum(), at)
        return {"energy": energy, "force": -force}

def main():
    out = Potential()(torch.randn(4, 3, requires_grad=True))
    loss = out["energy"].mean() + out["force"].mean()
    loss.backward()

main()
""",
            ),
            _program(
                "a total of terms, one of which was looked at where it was computed",
                "term",
                """
def weighed(net, x):
    term = net(x).pow(2).mean()
    scale = torch.autograd.grad(term, net.weight)[0].norm()
    return term / scale

def main():
    net = nn.Linear(3, 1)
    total = weighed(net, torch.randn(4, 3)) + 1.0
    total.backward()

main()
""",
            ),
        ),
        beyond=(
            _program(
                "what was stored when the call that freed it began",
                "out",
                """
def forces(out, at):
    return torch.autograd.grad(out["energy"].sum(), at)[0]

def main():
    net, at = nn.Linear(3, 1), torch.randn(4, 3, requires_grad=True)
    out = {"energy": net(at).pow(2)}
    force = forces(out, at)
    (out["energy"].mean() + force.mean()).backward()

main()
""",
            ),
        ),
    ),
    Rule(
        "What no variable carried from line to line is named by what the gradient was taken of that freed it.",
        under=(
            _program(
                "second derivatives, in the residual of an equation",
                "u_x",
                """
def main():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    x, t = torch.randn(4, 1, requires_grad=True), torch.randn(4, 1, requires_grad=True)
    u = net(torch.cat([x, t], 1))
    u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    u_xx = torch.autograd.grad(u_x.sum(), x)[0]
    (u_t - 0.1 * u_xx).pow(2).mean().backward()

main()
""",
            ),
            _program(
                "the same, of a mean",
                "first",
                """
def main():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    x, t = torch.randn(4, 1, requires_grad=True), torch.randn(4, 1, requires_grad=True)
    u = net(torch.cat([x, t], 1))
    first, other = torch.autograd.grad(u.square().mean(), (x, t), create_graph=True)
    second, = torch.autograd.grad(first.square().mean(), [x])
    (other + second).square().sum().backward()

main()
""",
            ),
            _program(
                "attributes of an object",
                "self.u_t",
                """
class Problem:
    def __init__(self, net):
        self.net = net

    def residual(self, x, t):
        u = self.net(torch.cat([x, t], 1))
        self.u_x, self.u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
        u_tt = torch.autograd.grad(self.u_t.sum(), t)[0]
        return self.u_x + u_tt

def main():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    x, t = torch.randn(4, 1, requires_grad=True), torch.randn(4, 1, requires_grad=True)
    Problem(net).residual(x, t).pow(2).mean().backward()

main()
""",
            ),
        ),
        beyond=(
            _program(
                "a variable carried it",
                "u",
                """
def main():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    x, t = torch.randn(4, 1, requires_grad=True), torch.randn(4, 1, requires_grad=True)
    u = net(torch.cat([x, t], 1))
    u_x = torch.autograd.grad((2 * u).sum(), x)[0]
    (u + u_x).pow(2).mean().backward()

main()
""",
            ),
        ),
    ),
    Rule(
        "Where all of it was there before the graph was freed, it is the variable that was kept longest.",
        under=(
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
                "features in a dict of outputs",
                'features | out | out["features"]',
                """
def forward(body, head_a, head_b, x):
    features = body(x).tanh()
    return {"features": features, "a": head_a(features), "b": head_b(features)}
def main():
    body, head_a, head_b = nn.Linear(3, 3), nn.Linear(3, 1), nn.Linear(3, 1)
    out = forward(body, head_a, head_b, torch.randn(4, 3))
    out["a"].pow(2).mean().backward()
    out["b"].pow(2).mean().backward()
main()
""",
            ),
            _program(
                "two heads, both losses computed before the first pass",
                "features",
                """
def main():
    body, first, second = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)
    features = torch.sigmoid(body(torch.randn(5, 3)))
    one, two = first(features).mean(), second(features).mean()
    one.backward()
    two.backward()

main()
""",
            ),
        ),
        beyond=(
            _program(
                "one that lasts longer, and is not on the path",
                "features",
                """
def main():
    body, first, second = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)
    kept = torch.randn(5, 3)
    features = torch.sigmoid(body(kept))
    one, two = first(features).mean(), second(features).mean()
    one.backward()
    two.backward()
    print(kept.mean())

main()
""",
            ),
        ),
    ),
    Rule(
        "An attribute is found by its name, whatever its object is called there; the newest store counts most.",
        under=(
            _program(
                "an attribute two objects away",
                "agent.memory.state.value | self.memory.state.value | self.state.value",
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
                "a class attribute",
                "Pool.shared | cls.shared | pool.shared | self.shared",
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
                "a named tuple in an attribute",
                "model.carry.h | self.carry | self.carry.h",
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
                "set from outside, read inside",
                "self.context",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.context = torch.zeros(3)
    def forward(self, x):
        return torch.tanh(self.lin(x) + self.context)

def train(model, data):
    for x in data:
        out = model(x)
        out.pow(2).sum().backward()
        model.context = out.mean(0)

train(Net(), torch.randn(3, 2, 3))
""",
            ),
        ),
        beyond=(
            _program(
                "stored by a hook",
                "previous",
                """
class Features:
    def __init__(self, module):
        self.found = {}
        module.register_forward_hook(self.keep)

    def keep(self, module, args, output):
        self.found["body"] = output

def main():
    body = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    features, previous = Features(body), None
    for _ in range(2):
        loss = body(torch.ones(2, 3)).sum()
        if previous is not None:
            loss = loss + (features.found["body"] - previous).pow(2).mean()
        previous = features.found["body"]
        loss.backward()

main()
""",
            ),
            _program(
                "an attribute that has another value by now",
                "self.log",
                """
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(3, 3)
        self.state = torch.zeros(1, 3)
        self.log = []

    def forward(self, x):
        self.state = self.cell(x, self.state)
        self.log.append(self.state)
        return torch.stack(self.log).mean()

    def cut(self):
        self.state = self.state.detach()

memory = Memory()
for _ in range(2):
    memory(torch.ones(1, 3)).backward()
    memory.cut()
""",
            ),
        ),
    ),
    Rule(
        "A parameter is what the caller gave; where a library calls, something that the statement behind it reads.",
        under=(
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
                "given by functools.reduce",
                "h",
                """
from functools import reduce
def main():
    cell = nn.GRUCell(2, 3)
    h = torch.zeros(1, 3)
    for _ in range(3):
        h = reduce(lambda s, x: cell(x, s), torch.randn(4, 1, 2), h)
        h.pow(2).sum().backward()
main()
""",
            ),
        ),
        beyond=(
            _program(
                "of two that are given, the one that is not detached",
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
        ),
    ),
    Rule(
        "A call gives back what the function returned, a generator what it yielded, a property what it answered.",
        under=(
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
                "a property that gives the graph back",
                "self._mean | self.total | stats._mean | stats.mean",
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
                "a coroutine that is sent its input",
                "h",
                """
def recurrent(cell):
    h = torch.zeros(1, 3)
    x = yield
    while True:
        h = cell(x, h)
        x = yield h

def main():
    cell = nn.GRUCell(2, 3)
    co = recurrent(cell)
    next(co)
    for x in torch.randn(3, 1, 2):
        out = co.send(x)
        out.sum().backward()
main()
""",
            ),
        ),
        beyond=(
            _program(
                "only one of a pair is detached",
                "c | state | state[1]",
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
        ),
    ),
    Rule(
        "A variable of a function around, or of a module, is what was stored to it last, by whomever.",
        under=(
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
                "a global of another module",
                "HISTORY | HISTORY[-1] | parts.HISTORY",
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
        ),
        beyond=(
            _program(
                "a parameter that hides the global of its name",
                "kept",
                """
baseline = torch.zeros(())

def advantage(value, baseline):
    return value * (1 + baseline)

def main():
    net, kept = nn.Linear(3, 1), torch.zeros(())
    for _ in range(3):
        value = net(torch.randn(4, 3)).exp().mean()
        advantage(value, kept).backward()
        kept = 0.9 * kept + 0.1 * value

main()
""",
            ),
        ),
    ),
    Rule(
        "What is taken out of a container was put into it: under which key is not asked where it is not a constant.",
        under=(
            _program(
                "a list of states, the last one read",
                "states | states[-1]",
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
                'state | state["h"]',
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
                "a deque of past outputs",
                "agent.recent | self.recent",
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
                "an iterator of precomputed contexts",
                "chunks | contexts",
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
        ),
        beyond=(
            _program(
                "under another constant key, it is another value",
                'state["c"] | state',
                """
def main():
    cell = nn.LSTMCell(3, 4)
    state = {"h": torch.zeros(1, 4), "c": torch.zeros(1, 4)}
    for _ in range(3):
        h, c = cell(torch.randn(1, 3), (state["h"], state["c"]))
        state["h"], state["c"] = h.detach(), c
        h.pow(2).sum().backward()

main()
""",
            ),
        ),
    ),
    Rule(
        "A write in place gives the variable the history of what is written.",
        under=(
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
                "a buffer, by copy_",
                "self.memory",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.lin = nn.Linear(3, 3); self.register_buffer("memory", torch.zeros(2, 3))
    def forward(self, x):
        y = torch.tanh(self.lin(x) + self.memory)
        self.memory = self.memory.clone()
        self.memory.copy_(y)
        return y
net = Net()
for _ in range(3):
    net(torch.randn(2, 3)).sum().backward()
""",
            ),
            _program(
                "a row of a table",
                "table",
                """
def main():
    net = nn.Linear(3, 3)
    table = torch.zeros(4, 3)
    for i in range(3):
        code = torch.sigmoid(net(torch.randn(3)))
        table = table.clone()
        table[i] = code
        (table.sum(0) * code).sum().backward()
main()
""",
            ),
        ),
        beyond=(
            _program(
                "what is written has no history",
                "previous",
                """
def main():
    net = nn.Linear(3, 3)
    table, previous = torch.zeros(4, 3), torch.zeros(3)
    for i in range(3):
        code = torch.sigmoid(net(torch.randn(3)) + previous)
        table[i] = code.detach()
        (table.sum(0) * code).sum().backward()
        previous = code

main()
""",
            ),
        ),
    ),
    Rule(
        "The object that one statement calls both times, where only the first call created the op: a cache has it.",
        under=(
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
                "a method that is cached",
                "self.kernel | kernels.kernel",
                """
from functools import lru_cache

class Kernels:
    def __init__(self):
        self.log_width = nn.Parameter(torch.zeros(()))

    @lru_cache(maxsize=None)
    def kernel(self, n):
        return torch.exp(-torch.arange(n, dtype=torch.float32) ** 2 / self.log_width.exp())

    def smooth(self, x):
        return x * self.kernel(5)

def main():
    net, kernels = nn.Linear(3, 5), Kernels()
    for _ in range(2):
        kernels.smooth(net(torch.randn(2, 3))).pow(2).mean().backward()

main()
""",
            ),
            _program(
                "a library's parametrization that is cached",
                "self.layer | layer | self.layer.weight",
                """
from torch.nn.utils import parametrize

class Positive(nn.Module):
    def forward(self, weight):
        return weight.exp()

def main():
    layer = nn.Linear(3, 1)
    parametrize.register_parametrization(layer, "weight", Positive())
    with parametrize.cached():
        for _ in range(2):
            loss = layer(torch.randn(2, 3)).pow(2).mean()
            loss.backward()

main()
""",
            ),
        ),
        beyond=(
            _program(
                "an object that is entered both times keeps it itself",
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
        ),
    ),
    Rule(
        "What one statement calls and hands on at once is named by the call: no variable ever held it.",
        under=(
            _program(
                "handed on at once",
                "self.hidden",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Sequential(nn.Linear(3, 3), nn.Tanh()), nn.Linear(3, 1)
        self.hidden.register_forward_hook(lambda module, args, output: output.abs().mean().backward())

    def forward(self, x):
        return self.out(self.hidden(x))

Net()(torch.ones(2, 3)).sum().backward()
""",
            ),
            _program(
                "a body that hands its output to a loss function",
                "self.body",
                """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 1), nn.Tanh())
        self.body.register_forward_hook(lambda module, args, output: output.mean().backward())

    def loss(self, x, y):
        return F.smooth_l1_loss(self.body(x), y)

Model().loss(torch.ones(2, 3), torch.zeros(2, 1)).backward()
""",
            ),
            _program(
                "handed to a loss function",
                "model",
                """
model = nn.Sequential(nn.Linear(3, 1), nn.Sigmoid())
model.register_forward_hook(lambda module, args, output: output.sum().backward())
loss = F.mse_loss(model(torch.randn(2, 3)), torch.zeros(2, 1))
loss.backward()
""",
            ),
        ),
        beyond=(
            _program(
                "held by a variable in between",
                "code",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Sequential(nn.Linear(3, 3), nn.Tanh()), nn.Linear(3, 1)
        self.hidden.register_forward_hook(lambda module, args, output: output.abs().mean().backward())

    def forward(self, x):
        code = self.hidden(x)
        return self.out(code)

Net()(torch.ones(2, 3)).sum().backward()
""",
            ),
        ),
    ),
    Rule(
        "Where the lines do not tell, it is the live holder of the very op that the entering line reads.",
        under=(
            _program(
                "a library's distribution made once",
                "logits | policy | scale",
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
                "a partial that holds what it was given",
                "scorer | weights",
                """
from functools import partial
def score(weights, x):
    return (weights * x).sum()
def main():
    raw = nn.Parameter(torch.zeros(3))
    weights = torch.softmax(raw, 0)
    scorer = partial(score, weights)
    for x in torch.randn(2, 3):
        scorer(x).backward()
main()
""",
            ),
            _program(
                "stored by a hook of a library's module",
                "previous",
                """
def main():
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    seen, previous = {}, None
    net[1].register_forward_hook(lambda m, i, o: seen.__setitem__("act", o))
    for x in torch.randn(3, 2, 3):
        loss = net(x).pow(2).mean()
        if previous is not None:
            loss = loss + (seen["act"] - previous).pow(2).mean()
        loss.backward()
        previous = seen["act"]
main()
""",
            ),
            _program(
                "a property that is cached",
                "self.precision | metric.precision",
                """
from functools import cached_property

class Metric(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.eye(3))

    @cached_property
    def precision(self):
        return self.factor @ self.factor.T

    def forward(self, x):
        return (x @ self.precision * x).sum()

metric = Metric()
for _ in range(2):
    metric(torch.randn(2, 3)).backward()
""",
            ),
        ),
        beyond=(
            _program(
                "a holder that the line does not read",
                "policy | scale",
                """
def main():
    scale = nn.Parameter(torch.zeros(4)).exp()
    policy = torch.distributions.Categorical(probs=scale)
    shelf = {"policy": policy}
    for _ in range(2):
        (-policy.log_prob(policy.sample())).backward()
    print(shelf)

main()
""",
            ),
        ),
    ),
    Rule(
        "Of several variables that one statement stores, the one that is seen to lead to the op is meant.",
        under=(
            _program(
                "two students that teach each other",
                "out_a",
                """
def student():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))

def distance(own, peer):
    return (own.log_softmax(1) - peer.softmax(1)).square().mean()

def update(a, b, opt_a, opt_b, x):
    out_a, out_b = a(x), b(x)
    loss_a = out_a.square().mean() + distance(out_a, out_b)
    loss_b = out_b.square().mean() + distance(out_b, out_a)
    opt_a.zero_grad()
    loss_a.backward(retain_graph=True)
    opt_a.step()
    opt_b.zero_grad()
    loss_b.backward()
    opt_b.step()

def main():
    a, b = student(), student()
    opts = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (a, b)]
    for _ in range(3):
        update(a, b, *opts, torch.randn(2, 3))

main()
""",
            ),
            _program(
                "two critics, one of which learns from the other",
                "q1",
                """
class Critics(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        self.q2 = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))

def gap(one, other):
    return torch.minimum(one, other).square().mean()

def main():
    critics = Critics()
    first = torch.optim.Adam(critics.q1.parameters())
    second = torch.optim.Adam(critics.q2.parameters())
    for _ in range(3):
        s = torch.randn(2, 3)
        q2, q1 = critics.q2(s), critics.q1(s)
        loss1 = q1.square().mean()
        loss2 = q2.square().mean() + gap(q2, q1)
        first.zero_grad()
        loss1.backward(retain_graph=True)
        first.step()
        second.zero_grad()
        loss2.backward()
        second.step()

main()
""",
            ),
            _program(
                "two views, of which one was back-propagated already",
                "left",
                """
def contrast(one, other):
    return (one.softmax(1) * other.log_softmax(1)).sum()

def main():
    f, g = nn.Linear(3, 4), nn.Linear(3, 4)
    x = torch.randn(2, 3)
    right, left = g(x).tanh(), f(x).tanh()
    first = left.square().mean()
    second = right.square().mean() + contrast(right, left)
    first.backward()
    second.backward()

main()
""",
            ),
        ),
        beyond=(
            _program(
                "both lead to it, and one is read",
                "right | both",
                """
def main():
    trunk = nn.Linear(3, 4)
    both = trunk(torch.randn(2, 3)).tanh()
    left, right = both[:, :2], both[:, 2:]
    left.square().mean().backward()
    loss = right.pow(3).sum()
    loss.backward()

main()
""",
            ),
        ),
    ),
    Rule(
        "What a key stored is what a line reads by a key, before what it reads by a name, and a parameter last.",
        under=(
            _program(
                "layers in a loop, whose states have computed names, and the list of these names",
                "self.h_fast | self.h_slow",
                """
class Cells(nn.Module):
    def __init__(self, keys):
        super().__init__()
        self.keys = keys
        self.cells = nn.ModuleDict({k: nn.GRUCell(3, 4) for k in keys})
        for k in keys:
            setattr(self, f"h_{k}", torch.zeros(2, 4))
    def forward(self, x):
        out = 0
        for k in self.keys:
            h = self.cells[k](x, getattr(self, f"h_{k}"))
            setattr(self, f"h_{k}", h)
            out = out + h.sum()
        return out
net = Cells(["slow", "fast"])
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(4):
    loss = net(torch.randn(2, 3)).square()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _program(
                "a filter whose gain stands beside what vars() gives",
                "self.high | self.low",
                """
class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.tensor(0.5))
        self.low = torch.zeros(4)
        self.high = torch.zeros(4)
    def forward(self, x):
        for k in ("low", "high"):
            vars(self)[k] = self.gain * vars(self)[k] + (1 - self.gain) * x
        return self.low - self.high * 0.5
f = Filter()
opt = torch.optim.SGD(f.parameters(), lr=0.1)
for x in torch.randn(6, 4):
    opt.zero_grad()
    (f(x) - x).square().sum().backward()
    opt.step()
""",
            ),
            _program(
                "a learned rule updates the table of a module's parameters",
                "student.weight | student.bias",
                """
torch.manual_seed(0)
class Rule(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(1, 1)
    def forward(self, g):
        return self.net(g.reshape(-1, 1)).reshape(g.shape)
rule = Rule()
meta = torch.optim.Adam(rule.parameters(), lr=1e-3)
student = nn.Linear(3, 1)
data = torch.randn(8, 3)
for it in range(5):
    meta_loss = 0
    for k in range(3):
        loss = (student(data) - data.sum(1, keepdim=True)).square().mean()
        names, values = zip(*student.named_parameters())
        grads = torch.autograd.grad(loss, values, create_graph=True)
        for name, value, grad in zip(names, values, grads):
            updated = value - 0.1 * grad + 0.01 * rule(grad)
            del student._parameters[name]
            student._parameters[name] = updated
        meta_loss = meta_loss + loss
    meta.zero_grad()
    meta_loss.backward()
    meta.step()
""",
            ),
        ),
        beyond=(
            _program(
                "stored by a helper that takes keys, and read by its name",
                "self.low",
                """
class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.tensor(0.5))
        self.low = torch.zeros(4)
    def keep(self, **values):
        for key, value in values.items():
            setattr(self, key, value)
    def forward(self, x):
        low = self.gain * self.low + (1 - self.gain) * x
        self.keep(low=low)
        return x - low
f = Filter()
opt = torch.optim.SGD(f.parameters(), lr=0.1)
for x in torch.randn(6, 4):
    opt.zero_grad()
    f(x).square().sum().backward()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "An attribute that is reached by a key has the name of the key, or the one that it has in the live program.",
        under=(
            _program(
                "slots of a memory, written by setattr and read by getattr",
                "self.slot_b",
                """
class Bank(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 4)
        for key in "ab":
            setattr(self, f"slot_{key}", torch.zeros(4))

    def forward(self, x):
        for key in "ab":
            new = torch.tanh(self.mix(x + getattr(self, f"slot_{key}")))  # created
            setattr(self, f"slot_{key}", new)
            x = new
        return x

bank = Bank()
opt = torch.optim.SGD(bank.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    bank(torch.randn(4)).sum().backward()
    opt.step()
""",
            ),
            _program(
                "a buffer that a helper writes into the module's table",
                "self.state",
                """
class Reservoir(nn.Module):
    def __init__(self):
        super().__init__()
        self.rec = nn.Linear(5, 5)
        self.register_buffer("state", torch.zeros(5))

    def remember(self, name, value):
        self._buffers[name] = value

    def forward(self, x):
        value = torch.tanh(x + self.rec(self.state))  # created
        self.remember("state", value)
        return value

net = Reservoir()
for _ in range(2):
    net(torch.randn(5)).sum().backward()
""",
            ),
            _program(
                "both states of a cell, put into vars()",
                "self.hidden",
                """
class Agent:
    def __init__(self):
        self.rnn = nn.LSTMCell(3, 6)
        for name in ("hidden", "cell"):
            vars(self)[name] = torch.zeros(1, 6)

    def act(self, x):
        states = self.rnn(x, (self.hidden, self.cell))  # created
        for name, value in zip(("hidden", "cell"), states):
            vars(self)[name] = value
        return self.hidden

agent = Agent()
for _ in range(2):
    agent.act(torch.randn(1, 3)).sum().backward()
""",
            ),
            _program(
                "weights that an inner step replaces",
                "net.weight | net.bias",
                """
net = nn.Linear(3, 1)
rate = nn.Parameter(torch.tensor(0.1))
for _ in range(2):
    x = torch.randn(8, 3)
    keys = list(net._parameters)
    inner = net(x).tanh().square().mean()
    grads = torch.autograd.grad(inner, [net._parameters[key] for key in keys], create_graph=True)
    for key, grad in zip(keys, grads):
        updated = net._parameters[key] - rate * grad  # created
        del net._parameters[key]
        net._parameters[key] = updated
    net(x).tanh().square().mean().backward()
""",
            ),
        ),
        beyond=(
            _program(
                "what is called is no tensor that was stored under some name",
                "carry",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 3)
        self.seen = None

    def forward(self, x, carry, key):
        new = self.cell(x, carry)  # created
        setattr(self, key, new.detach())
        return new

net, carry = Net(), torch.zeros(1, 3)
for _ in range(2):
    carry = net(torch.randn(1, 2), carry, "seen")
    carry.sum().backward()
""",
            ),
        ),
    ),
    Rule(
        "What a function was given is called as its caller calls it, and was created where it was not yet cut up.",
        under=(
            _program(
                "features, split into batches by what trains on them",
                "features",
                """
encoder, head = nn.Linear(5, 8), nn.Linear(8, 1)

def fit(data, targets):
    for xb, yb in zip(data.split(4), targets.split(4)):
        (head(xb).squeeze(1) - yb).square().mean().backward()

features = torch.tanh(encoder(torch.randn(12, 5)))  # created
fit(features, torch.randn(12))
""",
            ),
            _program(
                "a loop over the rows of latents",
                "codes",
                """
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 6)

    def forward(self, z):
        return self.layer(z).relu()

def refine(decoder, latents, images):
    for latent, image in zip(latents, images):
        (decoder(latent) - image).abs().sum().backward()

def main():
    table = nn.Parameter(torch.randn(4, 3))
    codes = F.normalize(table, dim=1)  # created
    refine(Decoder(), codes, torch.randn(4, 6))

main()
""",
            ),
            _program(
                "slices of embeddings, two calls down",
                "xs",
                """
embed, net = nn.Embedding(20, 4), nn.Linear(4, 1)

def epoch(inputs):
    for i in range(0, len(inputs), 4):
        net(inputs[i : i + 4]).square().mean().backward()

def train(table):
    epoch(table)

xs = embed(torch.arange(16)).sin()  # created
train(xs)
""",
            ),
            _program(
                "frames in pairs",
                "frames",
                """
back, classify = nn.Linear(6, 6), nn.Linear(6, 2)
frames = back(torch.randn(8, 6)).relu()  # created
for first, second in zip(*frames.chunk(2)):
    classify(first - second).square().sum().backward()
""",
            ),
        ),
        beyond=(
            _program(
                "a graph that the function created itself",
                "z",
                """
encoder, head, aux = nn.Linear(5, 4), nn.Linear(4, 1), nn.Linear(4, 1)

def step(x):
    z = torch.tanh(encoder(x))  # created
    head(z).sum().backward()
    aux(z).sum().backward()

batch = torch.randn(3, 5)
step(batch)
""",
            ),
            _program(
                "a part that is kept, of what is created again in every iteration",
                "memory",
                """
net = nn.Linear(4, 8)
memory = torch.zeros(3, 4)
for _ in range(2):
    both = torch.tanh(net(memory + torch.randn(3, 4)))  # created
    memory, out = both.chunk(2, dim=1)
    out.sum().backward()
""",
            ),
        ),
    ),
    Rule(
        "What one call puts away item by item may be more than what is looked through: older calls are asked, too.",
        under=(
            _program(
                "a memory of the nodes of a graph",
                "self.container",
                """
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 2)
        self.container = {node: torch.zeros(2) for node in range(40)}

    def get(self, ids):
        return torch.stack([self.container[each] for each in ids])

    def update(self, ids):
        fresh = self.cell(torch.ones(len(ids), 3), self.get(ids))
        for node, state in zip(ids, fresh):
            self.container[node] = state

memory, head = Memory(), nn.Linear(2, 1)
opt = torch.optim.SGD(memory.parameters(), lr=0.1)
for _ in range(3):
    memory.update(range(20))
    memory.update(range(20, 40))
    opt.zero_grad()
    head(memory.get(range(40))).square().mean().backward()
    opt.step()
""",
            ),
            _program(
                "slots of a list",
                "self.slots",
                """
class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.write = nn.Linear(2, 2)
        self.slots = [torch.zeros(2)] * 32

    def rewrite(self, first):
        old = torch.stack([self.slots[first + n] for n in range(16)])
        for n, row in enumerate(self.write(old).tanh().unbind(0)):
            self.slots[first + n] = row

writer, head = Writer(), nn.Linear(2, 1)
opt = torch.optim.SGD(writer.parameters(), lr=0.1)
for _ in range(3):
    writer.rewrite(0)
    writer.rewrite(16)
    opt.zero_grad()
    head(torch.stack(writer.slots)).square().sum().backward()
    opt.step()
""",
            ),
            _program(
                "a table of the file",
                "table",
                """
mix, head = nn.Linear(2, 2), nn.Linear(2, 1)
table = {key: torch.ones(2) for key in range(40)}
opt = torch.optim.SGD(mix.parameters(), lr=0.1)

def refresh(keys):
    rows = mix(torch.stack([table[key] for key in keys])).tanh()
    for key, vector in zip(keys, rows):
        table[key] = vector

for _ in range(3):
    refresh(range(20))
    refresh(range(20, 40))
    opt.zero_grad()
    head(torch.stack([table[key] for key in range(40)])).square().sum().backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _program(
                "a memory without graphs, beside a state that is carried on",
                "state",
                """
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 2)
        self.container = {node: torch.zeros(2) for node in range(40)}

    def get(self, ids):
        return torch.stack([self.container[each] for each in ids])

    def update(self, ids, state):
        state = self.cell(self.get(ids), state)  # created
        for node, row in zip(ids, state.detach()):
            self.container[node] = row
        return state

memory, head = Memory(), nn.Linear(2, 1)
opt = torch.optim.SGD(memory.parameters(), lr=0.1)
state = torch.zeros(20, 2)
for _ in range(3):
    state = memory.update(range(20), state)
    memory.update(range(20, 40), state.detach())
    opt.zero_grad()
    (head(state).square().mean() + memory.get(range(40)).sum()).backward()
    opt.step()
""",
            ),
        ),
    ),
)
