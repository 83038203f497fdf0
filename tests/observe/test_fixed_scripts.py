"""Mistakes as people make them in training scripts: the explanation, and that each runs with the first edit in it."""

from pathlib import Path

import pytest

from gradsan.fix.writing.editing import edited
from observe.failing_programs import HEAD, diagnosis_of

# Code, name, kind of the first fix, and the program.
PROGRAMS = {
    "fake that several steps of its own generator use": (
        "GS104",
        "fake",
        "move-into-loop",
        """
maker, critic = nn.Linear(2, 3), nn.Linear(3, 1)
opt_m, opt_c = (torch.optim.SGD(net.parameters(), 0.1) for net in (maker, critic))
for _ in range(2):
    noise = torch.ones(4, 2)
    fake = maker(noise).tanh()
    for _ in range(3):
        opt_m.zero_grad()
        loss = (critic(fake) - 1).pow(2).mean()
        loss.backward()
        opt_m.step()
""",
    ),
    "values that each round only re-arranges": (
        "GS104",
        "values",
        "move-into-loop",
        """
critic = nn.Linear(3, 1)
opt = torch.optim.SGD(critic.parameters(), 0.1)
states, returns = torch.ones(4, 3), torch.ones(4)
values = critic(states).tanh()
for _ in range(3):
    values = torch.squeeze(values)
    loss = F.mse_loss(values, returns)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "embeddings that a term of the loss consists of": (
        "GS104",
        "self.nodes",
        "move-into-loop",
        """
class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.edges = nn.Embedding(4, 2), torch.full((4, 4), 0.25)

    def propagate(self):
        return (self.edges @ self.table.weight).tanh()

    def loss(self, users):
        score = F.softplus(-self.nodes[users].sum(-1)).mean()
        return score + 0.1 * self.table(users).pow(2).mean()

def epoch(model, opt):
    model.nodes = model.propagate()
    for users in torch.arange(4).split(2):
        loss = model.loss(users)
        opt.zero_grad()
        loss.backward()
        opt.step()

def main():
    model = Graph()
    epoch(model, torch.optim.SGD(model.parameters(), 0.1))

main()
""",
    ),
    "encoder that runs over the sequence once for all steps": (
        "GS104",
        "mean",
        "move-into-loop",
        """
cell, head = nn.GRUCell(3, 4), nn.Linear(2, 3)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], 0.1)
sequence = torch.ones(5, 1, 3)
h = torch.zeros(1, 4)
for t in reversed(range(len(sequence))):
    h = cell(sequence[t], h)
mean, spread = h[:, :2], h[:, 2:]
for _ in range(3):
    z = mean + spread.exp() * torch.randn(1, 2)
    loss = F.mse_loss(head(z), sequence[0])
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "meta step that is a module's forward": (
        "GS103",
        "self.fast",
        "detach",
        """
class Meta(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.fast = nn.Linear(3, 3), torch.zeros(3)
        self.opt = torch.optim.SGD(self.net.parameters(), 0.1)

    def forward(self, x):
        self.fast = self.net(x + self.fast).tanh()
        loss = self.fast.pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

def main():
    meta = Meta()
    for x in torch.ones(3, 3):
        meta(x)

main()
""",
    ),
    "score that two losses are made of, one after the other's step": (
        "GS201",
        "score",
        "recompute",
        """
maker, critic = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
opt_m, opt_c = (torch.optim.SGD(net.parameters(), 0.1) for net in (maker, critic))
for _ in range(3):
    fake = maker(torch.ones(4, 2))
    judged = critic(fake)
    score = torch.sigmoid(judged)
    loss_c = score.mean()
    loss_m = (1 - score).mean()
    opt_c.zero_grad()
    loss_c.backward(retain_graph=True)
    opt_c.step()
    opt_m.zero_grad()
    loss_m.backward()
    opt_m.step()
""",
    ),
    "state that is handed to a function and comes back from it": (
        "GS103",
        "hidden",
        "detach",
        """
class Architect:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), 0.1)

    def step(self, hidden, x):
        self.opt.zero_grad()
        following = self.advance(hidden, x)
        self.opt.step()
        return following, None

    def advance(self, hidden, x):
        following = [self.net(x + hidden[0]).tanh()]
        following[0].pow(2).mean().backward()
        return following

def main():
    architect = Architect(nn.Linear(3, 3))
    hidden = [[torch.zeros(3)]]
    for x in torch.ones(3, 3):
        at = 0
        while at < 1:
            hidden[at], norm = architect.step(hidden[at], x)
            at += 1

main()
""",
    ),
    "temperature that is worked out every fourth step, for a loss of its own": (
        "GS109",
        "self.alpha",
        "detach",
        """
class Agent:
    def __init__(self):
        self.policy, self.log_alpha = nn.Linear(3, 1), torch.zeros(1, requires_grad=True)
        self.opt = torch.optim.SGD(self.policy.parameters(), 0.1)
        self.alpha_opt = torch.optim.SGD([self.log_alpha], 0.1)
        self.alpha = 0.2

    def update(self, x, step):
        entropy = self.policy(x).tanh()
        loss = (self.alpha * entropy).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        if step % 4 == 0:
            loss = (self.log_alpha * entropy.detach()).mean()
            self.alpha_opt.zero_grad()
            loss.backward()
            self.alpha_opt.step()
            self.alpha = self.log_alpha.exp()

agent = Agent()
for episode in range(4):
    for step in range(3):
        for _ in range(1):
            agent.update(torch.ones(2, 3), 3 * episode + step)
""",
    ),
    "sum over a sequence that every round back-propagates": (
        "GS105",
        "loss",
        "combine-losses",
        """
cell = nn.GRUCell(3, 3)
opt = torch.optim.SGD(cell.parameters(), 0.1)

def train(sequence):
    hidden = torch.zeros(1, 3)
    opt.zero_grad()
    loss = 0
    for x in sequence:
        hidden = cell(x, hidden)
        loss += hidden.pow(2).mean()

        loss.backward()
    opt.step()
    return loss.item()

print(train(torch.ones(4, 1, 3)))
""",
    ),
    "first state of a rollout that all epochs begin with": (
        "GS201",
        "first",
        "detach",
        """
def train(net, opt, first, states):
    for _ in range(3):
        loss = net(states + first).pow(2).mean()
        opt.zero_grad()
        loss.backward(retain_graph=True)
        opt.step()

net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    first = net(torch.ones(3))
    train(net, opt, first, torch.ones(4, 3))
""",
    ),
    "judgement of one network's output that is used after that network's step": (
        "GS201",
        "judged",
        "recompute",
        """
maker = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 3))
critic = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 2))
opt_m, opt_c = (torch.optim.SGD(net.parameters(), 0.1) for net in (maker, critic))
for x in torch.ones(3, 4, 2):
    code = maker(x)
    judged = critic(code)
    loss_m = (judged[:, 0] - judged[:, 1]).mean() + code.pow(2).mean()
    opt_m.zero_grad()
    loss_m.backward(retain_graph=True)
    opt_m.step()
    mixed = critic(code.detach().flip(0))
    loss_c = (judged - 1).pow(2).mean() + mixed.pow(2).mean()
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
""",
    ),
    "one of several lists that a method forgets to empty": (
        "GS103",
        "self.scores",
        "reset-state",
        """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.scores, self.rewards = nn.Linear(3, 1), [], []

    def forward(self, x):
        self.scores.append(self.layer(x).tanh())
        self.rewards.append(1.0)

    def loss(self):
        return sum((score * reward).sum() for score, reward in zip(self.scores, self.rewards))

    def clear(self):
        del self.rewards[:]

def main():
    policy = Policy()
    opt = torch.optim.SGD(policy.parameters(), 0.1)
    for _ in range(3):
        for x in torch.ones(2, 3):
            policy(x)
        opt.zero_grad()
        policy.loss().backward()
        opt.step()
        policy.clear()

main()
""",
    ),
    "penalty of gradients that are not recorded": (
        "GS203",
        "gradients",
        "create-graph",
        """
from torch import autograd

def penalty(critic, real, fake):
    mixed = autograd.Variable(0.5 * real + 0.5 * fake, requires_grad=True)
    judged = critic(mixed)
    gradients = autograd.grad(outputs=judged, inputs=mixed,
                              grad_outputs=torch.ones(judged.size()),
                              retain_graph=True, only_inputs=True)[0]
    gradient_penalty = ((gradients.norm(2, dim=1) - 1) ** 2).mean()
    return gradient_penalty

maker, critic = nn.Linear(2, 3), nn.Linear(3, 1)
fake = maker(torch.ones(4, 2))
term = penalty(critic, torch.ones(4, 3), fake.data)
term.backward()
""",
    ),
}


@pytest.mark.parametrize(("code", "name", "first", "program"), PROGRAMS.values(), ids=list(PROGRAMS))
def test_script_runs_with_the_first_edit(
    code: str, name: str, first: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The explanation is right, and its first fix ends the error."""
    monkeypatch.chdir(tmp_path)

    found = diagnosis_of(tmp_path, program)

    assert (found.code, found.culprit and found.culprit.name, found.fixes[0].kind) == (code, name, first)
    lines = (HEAD + program).splitlines(keepends=True)
    fixed = "".join(edited(lines, found.fixes[0].edits))
    assert fixed != HEAD + program
    exec(compile(fixed, "fixed.py", "exec"), {"__name__": "fixed"})  # noqa: S102 # as Python would run it
