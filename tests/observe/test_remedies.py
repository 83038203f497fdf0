"""Which cause an error has, and what is offered first, where programs look alike and are to be fixed differently."""

from pathlib import Path

import pytest

from observe.failing_programs import diagnosis_of, line_of, marked

# Code, name, kind of the first fix, and the program.
PROGRAMS = {
    "trunk of two heads, with three optimizers that step together": (
        "GS102",
        "z",
        "combine-losses",
        """
trunk, left, right = nn.Linear(3, 2), nn.Linear(2, 1), nn.Linear(2, 1)
optimizers = [torch.optim.SGD(each.parameters(), 0.1) for each in (trunk, left, right)]
for x in torch.ones(3, 5, 3):
    z = trunk(x).tanh()  # made
    for each in optimizers:
        each.zero_grad()
    left(z).pow(2).mean().backward()
    right(z).abs().mean().backward()
    for each in optimizers:
        each.step()
""",
    ),
    "weights of a loss that has a prior in another term": (
        "GS104",
        "weights",
        "move-into-loop",
        """
net, power = nn.Linear(3, 1), nn.Parameter(torch.ones(()))
first = torch.optim.SGD([*net.parameters(), power], 0.1)
weights = torch.rand(5, 1) ** power  # made
for x in torch.ones(3, 5, 3):
    first.zero_grad()
    ((weights * net(x).pow(2)).mean() + (power - 1).pow(2)).backward()
    first.step()
""",
    ),
    "weights of a loss that has a prior in the same mean": (
        "GS104",
        "precision",
        "move-into-loop",
        """
net, noise = nn.Linear(3, 1), nn.Parameter(torch.zeros(5, 1))
first = torch.optim.SGD([*net.parameters(), noise], 0.1)
precision = noise.neg().exp()  # made
for x in torch.ones(3, 5, 3):
    first.zero_grad()
    (precision * net(x).pow(2) + noise).mean().backward()
    first.step()
""",
    ),
    "log-probabilities that are weighed by what a method of the same object collects": (
        "GS103",
        "self.log_probs",
        "reset-state",
        """
class Agent:
    def __init__(self):
        self.policy = nn.Linear(2, 2)
        self.opt = torch.optim.SGD(self.policy.parameters(), 0.1)
        self.log_probs, self.rewards = [], []

    def act(self, x):
        self.log_probs.append(self.policy(x).log_softmax(0)[0])  # made

    def returns(self):
        return torch.tensor([2 * each for each in self.rewards])

    def learn(self):
        loss = -(torch.stack(self.log_probs) * self.returns()).sum()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

agent = Agent()
for episode in range(3):
    for x in torch.ones(4, 2):
        agent.act(x)
        agent.rewards.append(1.0)
    agent.learn()
""",
    ),
    "losses of parts, stacked in a list that nothing empties": (
        "GS105",
        "parts",
        "reset-state",
        """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
parts = []
for batch in torch.randn(3, 12, 3):
    for chunk in batch.split(4):
        parts.append(net(chunk).square().mean())  # made
    loss = torch.stack(parts).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "terms that a method stacks, in a list that nothing empties": (
        "GS105",
        "self.terms",
        "reset-state",
        """
class Learner:
    def __init__(self, net):
        self.net, self.terms = net, []
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def see(self, x):
        self.terms.append(self.net(x).square().sum())  # made
    def update(self):
        loss = torch.stack(self.terms).sum()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
learner = Learner(nn.Linear(3, 1))
for epoch in range(3):
    for x in torch.randn(4, 2, 3):
        learner.see(x)
    learner.update()
""",
    ),
    "log-probabilities of an episode, stacked in a list that nothing empties": (
        "GS105",
        "agent.saved",
        "reset-state",
        """
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Linear(3, 2)
        self.saved = []
    def act(self, s):
        d = torch.distributions.Categorical(logits=self.pi(s))
        a = d.sample()
        self.saved.append(d.log_prob(a))  # made
        return a
agent = Agent()
opt = torch.optim.Adam(agent.parameters())
for ep in range(4):
    rewards = []
    for t in range(5):
        a = agent.act(torch.randn(3))
        rewards.append(float(a))
    loss = -torch.stack(agent.saved).sum() * sum(rewards)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "terms with their names, in a list of an object that adds them up": (
        "GS103",
        "self.pairs",
        "reset-state",
        """
class Extra:
    def __init__(self):
        self.pairs = []
    def add(self, name, value):
        self.pairs.append((name, value))
    def total(self):
        return torch.stack([value for _, value in self.pairs]).mean()
class Net(nn.Module):
    def __init__(self, extra):
        super().__init__()
        self.one, self.two, self.extra = nn.Linear(3, 3), nn.Linear(3, 1), extra
    def forward(self, x):
        z = self.one(x).tanh()
        self.extra.add("small", z.square().mean())
        y = self.two(z)
        self.extra.add("smaller", y.abs().mean())  # made
        return y
extra = Extra()
net = Net(extra)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(3, 4, 3):
    loss = net(x).square().mean() + 0.1 * extra.total()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "states in a list, which the network attends to": (
        "GS103",
        "seen",
        "detach",
        """
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
seen = [torch.zeros(4, 3)]
for x in torch.randn(3, 4, 3):
    state = net(x).tanh()  # made
    loss = (state * torch.stack(seen).mean(0)).sum() + state.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen.append(state)
""",
    ),
    "a list that is given one loss a step, stacked": (
        "GS105",
        "parts",
        "item",
        """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
parts = []
for batch in torch.randn(3, 12, 3):
    parts.append(net(batch).square().mean())  # made
    loss = torch.stack(parts).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "average of losses that they are divided by": (
        "GS103",
        "past",
        "no-grad",
        """
net, sizes = nn.Linear(3, 2), {}
first = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.ones(3, 5, 3):
    total = 0
    for key, loss in enumerate(net(x).exp().mean(0)):
        past = sizes.get(key, loss)
        sizes[key] = 0.9 * past + 0.1 * loss  # made
        total = total + loss / sizes[key]
    first.zero_grad()
    total.backward()
    first.step()
""",
    ),
    "average of outputs that they are held to": (
        "GS103",
        "centre",
        "no-grad",
        """
net, centre, keep = nn.Linear(3, 2), torch.zeros(2), 0.9
first = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.ones(3, 5, 3):
    z = net(x).tanh()
    centre = torch.lerp(z.mean(0), centre, keep)  # made
    first.zero_grad()
    (z - centre).pow(2).mean().backward()
    first.step()
""",
    ),
    "average through which alone the network is trained": (
        "GS103",
        "memory",
        "detach",
        """
net, head, memory, keep = nn.Linear(3, 2), nn.Linear(2, 1), torch.zeros(5, 2), 0.9
first = torch.optim.SGD([*net.parameters(), *head.parameters()], 0.1)
for x in torch.ones(3, 5, 3):
    memory = keep * memory + (1 - keep) * net(x).tanh()  # made
    first.zero_grad()
    head(memory).pow(2).mean().backward()
    first.step()
""",
    ),
    "weights of a loss that trains what they were computed from": (
        "GS104",
        "weights",
        "detach",
        """
net = nn.Linear(3, 1)
first = torch.optim.SGD(net.parameters(), 0.1)
weights = net(torch.ones(5, 3)).sigmoid()  # made
for x in torch.ones(3, 5, 3):
    first.zero_grad()
    ((weights * net(x).pow(2)).mean() + net.weight.pow(2).sum()).backward()
    first.step()
""",
    ),
    "gradients that the critic throws away were not meant for it": (
        "GS106",
        "value",
        "detach",
        """
actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
first, second = torch.optim.SGD(actor.parameters(), 0.1), torch.optim.SGD(critic.parameters(), 0.1)
for x in torch.ones(3, 5, 3):
    value = critic(x).tanh()  # made
    first.zero_grad()
    (actor(x).softmax(1)[:, :1] * value).mean().backward()
    second.zero_grad()
    (value - 1).pow(2).mean().backward()
    first.step()
    second.step()
""",
    ),
    "gradients that are all cleared are wanted apart": (
        "GS102",
        "z",
        "retain-graph",
        """
net, heads = nn.Linear(3, 2), nn.Linear(2, 2)
first = torch.optim.SGD([*net.parameters(), *heads.parameters()], 0.1)
for x in torch.ones(3, 5, 3):
    z = net(x).tanh()  # made
    kept = []
    for loss in (heads(z).pow(2).mean(), heads(z).abs().mean()):
        first.zero_grad()
        loss.backward()
        kept.append(net.weight.grad.clone())
    net.weight.grad = sum(kept)
    first.step()
""",
    ),
    "loop over the parts of a step, each with an optimizer of its own": (
        "GS102",
        "ctx",
        "recompute",
        """
encoder, codes = nn.Linear(3, 2), nn.Parameter(torch.ones(4, 2))
first, second = torch.optim.SGD(encoder.parameters(), 0.1), torch.optim.SGD([codes], 0.1)

def fit(ctx):
    ctx["z"] = encoder(ctx["x"]).tanh()
    ctx["q"] = codes.tanh().mean(0)  # made
    return first, (ctx["z"] - ctx["q"]).pow(2).mean()

def follow(ctx):
    return second, (ctx["q"] - ctx["z"]).abs().mean()

for x in torch.ones(3, 5, 3):
    ctx = {"x": x}
    for part in (fit, follow):
        opt, loss = part(ctx)
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    ),
    "fast weights, through which alone the parameters are reached": (
        "GS103",
        "self.fast",
        "reset-state",  # detached, they would leave nothing to train
        """
class Learner:
    def __init__(self):
        self.w = {"a": nn.Parameter(torch.ones(3))}
        self.fast = dict(self.w)
        self.meta = torch.optim.SGD(self.w.values(), 0.1)

    def adapt(self, x):
        grads = torch.autograd.grad((x * self.fast["a"]).tanh().sum(), [*self.fast.values()], create_graph=True)
        self.fast = {k: v - 0.1 * g for (k, v), g in zip(self.fast.items(), grads)}  # made

    def outer(self, x):
        self.adapt(x)
        self.meta.zero_grad()
        (x * self.fast["a"]).tanh().sum().backward()
        self.meta.step()

learner = Learner()
for x in torch.ones(3, 3):
    learner.outer(x)
""",
    ),
    "regularizer of which nothing is added up": (
        "GS104",
        "penalty",
        "move-into-loop",
        """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
penalty = net.weight.pow(2).sum()  # made
for x in torch.ones(3, 2, 3):
    loss = net(x).pow(2).mean() + penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "penalty that is worked out every fourth step": (
        "GS109",
        "penalty",
        "recompute",
        """
def curvature(net):
    return net.weight.pow(4).sum()  # made

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for step, x in enumerate(torch.ones(6, 2, 3)):
    if step % 4 == 0:
        penalty = curvature(net)
    loss = net(x).pow(2).mean() + 0.1 * penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "cache that is filled by a function which every step calls for something else": (
        "GS109",
        "self.cached",
        "recompute",
        """
def smooth(values):
    return values.tanh().pow(2).mean()  # made

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.cached = nn.Linear(3, 4), {}

    def prior(self, key):
        if key not in self.cached:
            self.cached[key] = smooth(self.layer.weight)
        return self.cached[key]

    def forward(self, x):
        return smooth(self.layer(x))

net = Net()
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.ones(3, 2, 3):
    loss = net(x) + net.prior("weight")
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "advantages that only weigh what is trained": (
        "GS104",
        "advantages",
        "detach",
        """
critic = nn.Sequential(nn.Linear(3, 1), nn.Flatten(0))
opt = torch.optim.SGD(critic.parameters(), 0.1)
states = torch.ones(4, 3)
advantages = (torch.ones(4) - critic(states)).tanh()  # made
for _ in range(3):
    loss = (critic(states) * advantages).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "record of which one field has a history": (
        "GS104",
        "rollout",
        "detach",
        """
from dataclasses import dataclass

@dataclass
class Rollout:
    state: torch.Tensor
    value: torch.Tensor

def update(critic, opt, rollout):
    for _ in range(3):
        loss = (critic(rollout.state) * rollout.value).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

def collect(critic):
    state = torch.ones(4, 3)
    return Rollout(state, critic(state).tanh())  # made

def main():
    critic = nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), 0.1)
    rollout = collect(critic)
    update(critic, opt, rollout)

main()
""",
    ),
    "targets in a data set that a loader of a library's holds": (
        "GS104",
        "self.targets",
        "detach",
        """
from torch.utils.data import DataLoader, Dataset

class Prior(Dataset):
    def __init__(self, net):
        self.x = torch.ones(4, 3)
        self.targets = net(self.x).tanh()  # made

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return {"x": self.x[index], "target": self.targets[index]}

def collate(rows):
    return {name: torch.stack([row[name] for row in rows]) for name in rows[0]}

class Trainer:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), 0.1)
        self.prior = DataLoader(Prior(net), batch_size=2, collate_fn=collate)

    def fit(self):
        for batch in self.prior:
            loss = F.mse_loss(self.net(batch["x"]), batch["target"])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

Trainer(nn.Linear(3, 1)).fit()
""",
    ),
    "bonus of a network that only the later pass is to train": (
        "GS106",
        "bonus",
        "detach",
        """
policy, dynamics = nn.Linear(3, 1), nn.Linear(3, 1)
opt = torch.optim.SGD(policy.parameters(), 0.1)
other = torch.optim.SGD(dynamics.parameters(), 0.1)
state = torch.ones(4, 3)
bonus = dynamics(state).pow(2).squeeze(-1)  # made
reward = 1.0 + bonus
loss = -(policy(state).squeeze(-1) * reward).mean()
opt.zero_grad()
loss.backward()
opt.step()
surprise = bonus.mean()
other.zero_grad()
surprise.backward()
other.step()
""",
    ),
    "code that both optimizers were given a gradient of": (
        "GS102",
        "code",
        "recompute",
        """
encoder, decoder = nn.Linear(3, 2), nn.Linear(2, 3)
opts = [torch.optim.SGD(each.parameters(), 0.1) for each in (decoder, encoder)]
x = torch.ones(4, 3)
code = encoder(x).tanh()  # made
rebuilt = F.mse_loss(decoder(code), x)
rebuilt.backward()
for opt in opts:
    opt.step()
spread = code.pow(2).mean()
spread.backward()
""",
    ),
    "loss that a guard did not compute again": (
        "GS110",
        "loss",
        "reorder",
        """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in (torch.ones(2, 3), torch.ones(2, 3), torch.full((2, 3), torch.nan), torch.ones(2, 3)):
    if x.isfinite().all():
        loss = net(x).pow(2).mean()  # made
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "loss that each group of parameters asks for": (
        "GS101",
        "loss",
        "retain-graph",
        """
def backward(loss, groups):
    for parameters in groups:
        loss.backward(inputs=parameters)

def main():
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    opt = torch.optim.SGD(net.parameters(), 0.1)
    for x in torch.ones(2, 4, 3):
        loss = net(x).pow(2).mean()  # made
        opt.zero_grad()
        backward(loss, [list(net[0].parameters()), list(net[2].parameters())])
        opt.step()

main()
""",
    ),
    "state with respect to which gradients are asked for": (
        "GS103",
        "theta",
        "detach",
        """
def main():
    learned = nn.Linear(3, 3)
    meta = torch.optim.SGD(learned.parameters(), 0.1)
    theta = torch.zeros(3, requires_grad=True)
    for _ in range(3):
        (gradient,) = torch.autograd.grad((theta - 1).pow(2).sum(), theta, create_graph=True)
        theta = theta - learned(gradient).tanh()  # made
        loss = (theta - 1).pow(2).sum()
        meta.zero_grad()
        loss.backward()
        meta.step()

main()
""",
    ),
    "cache that is read like an attribute": (
        "GS109",
        "self.kernel",
        "recompute",
        """
from functools import cached_property

class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = nn.Parameter(torch.ones(()))

    @cached_property
    def kernel(self):
        return torch.exp(-torch.arange(3.0) / self.width)  # made

    def forward(self, x):
        return (x * self.kernel).sum()

net = Filter()
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.ones(3, 3):
    opt.zero_grad()
    net(x).backward()
    opt.step()
""",
    ),
    "activations of the step before, that a method moves on": (
        "GS103",
        "self.previous",
        "detach",
        """
class Probe:
    def __init__(self, net):
        self.current, self.previous = {}, {}
        net.register_forward_hook(self.keep)

    def keep(self, module, args, output):
        self.current["out"] = output

    def advance(self):
        self.previous = dict(self.current)

    def drift(self):
        return sum(F.l1_loss(self.current[name], old) for name, old in self.previous.items())

net = nn.Linear(3, 1)
probe = Probe(net)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.ones(3, 2, 3):
    out = net(x)  # made
    loss = out.pow(2).mean() + probe.drift()
    opt.zero_grad()
    loss.backward()
    opt.step()
    probe.advance()
""",
    ),
    "message that coroutines leave for their next turn": (
        "GS103",
        "board",
        "detach",
        """
import asyncio

board = {}

async def turn(name, net, opt):
    heard = board.get(name, torch.zeros(3)) * 0.5
    await asyncio.sleep(0)
    message = net(heard + 1.0).tanh()  # made
    board[name] = message
    loss = message.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

async def main():
    nets = {name: nn.Linear(3, 3) for name in "ab"}
    opts = {name: torch.optim.SGD(net.parameters(), 0.1) for name, net in nets.items()}
    for _ in range(3):
        await asyncio.gather(*(turn(name, nets[name], opts[name]) for name in nets))

asyncio.run(main())
""",
    ),
    "checkpoint that ran the earlier pass": (
        "GS112",
        "aux",
        "setting",
        """
from torch.utils.checkpoint import checkpoint

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.aux = nn.Linear(3, 3), torch.zeros(())

    def forward(self, x):
        gates = self.gate(x).softmax(-1)
        self.aux = gates.pow(2).sum()  # made
        return x * gates

first, block = nn.Linear(3, 3), Block()
opt = torch.optim.SGD([*first.parameters(), *block.parameters()], 0.1)
for x in torch.ones(3, 2, 3):
    aux = block.aux
    loss = checkpoint(block, first(x), use_reentrant=True).pow(2).mean() + aux
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "weights that are clipped before the pass that needs them": (
        "GS202",
        "w",
        "reorder",
        """
def clip(module):
    with torch.no_grad():
        for w in module.parameters():
            w.clamp_(-0.1, 0.1)

def main():
    maker, critic = nn.Linear(2, 3), nn.Linear(3, 1)
    score = critic(maker(torch.ones(4, 2)))  # made
    clip(critic)
    score.mean().backward()

main()
""",
    ),
    "statistics that are copied into a network before the pass": (
        "GS202",
        "mine",
        "reorder",
        """
def follow(teacher, student):
    for mine, other in zip(teacher.buffers(), student.buffers()):
        mine.copy_(other)

def main():
    student, teacher = (nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)) for _ in range(2))
    teacher.eval()
    x = torch.rand(8, 3)
    guess = teacher(x)  # made
    loss = F.mse_loss(student(x), guess)
    follow(teacher, student)
    loss.backward()

main()
""",
    ),
    "factor that is scaled by a number, which saves nothing of it": (
        "GS202",
        "cosine",
        "clone",
        """
cosine = nn.Linear(3, 4)(torch.ones(2, 3)).tanh() + 0.0
sine = (1.0 - cosine.square()).sqrt()  # made
margin = cosine * 0.9 - sine * 0.1
cosine[:, 0] = margin[:, 0]
cosine.sum().backward()
""",
    ),
}


@pytest.mark.parametrize(("code", "name", "kind", "program"), PROGRAMS.values(), ids=PROGRAMS)
def test_explanation_ends_in_the_remedy_that_helps(
    tmp_path: Path, code: str, name: str, kind: str, program: str
) -> None:
    """The cause is true of the program, and the first fix does what its author meant."""
    found = diagnosis_of(tmp_path, program)

    assert found.code == code
    assert found.culprit is not None
    assert found.culprit.name == name
    assert line_of(found.made) == marked(program, "made")
    assert found.fixes[0].kind == kind
