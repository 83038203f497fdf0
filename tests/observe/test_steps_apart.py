"""What is a new step and what a later part of the same one, and which remedy each of them asks for."""

from pathlib import Path

import pytest

from observe.failing_programs import diagnosis_of

# Code, name, kind of the first fix, and the program.
PROGRAMS = {
    "exits of one forward, each with a layer of its own": (
        "GS102",
        "h",
        "combine-losses",
        """
class Exits(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))

    def exits(self, h):
        for block in self.blocks:
            h = block(h).tanh()
            yield h

net = Exits()
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.ones(2, 4, 3):
    opt.zero_grad()
    for out in net.exits(x):
        loss = out.pow(2).mean()
        loss.backward()
    opt.step()
""",
    ),
    "state that is carried while gradients pile up": (
        "GS103",
        "h",
        "detach",
        """
cell, head = nn.GRUCell(3, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], 0.1)
h = torch.zeros(2, 4)
for x in torch.ones(3, 2, 3):
    h = cell(x, h)
    loss = head(h).pow(2).mean()
    loss.backward()
opt.step()
""",
    ),
    "average that is brought up to date below the pass": (
        "GS103",
        "average",
        "detach",
        """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
average = {"weight": net.weight.detach().clone()}
for x in torch.ones(4, 2, 3):
    loss = (net(x) - F.linear(x, average["weight"])).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    average["weight"] = 0.9 * average["weight"] + 0.1 * net.weight
""",
    ),
    "cache of a data set, read again in the second epoch": (
        "GS109",
        "self.cache",
        "recompute",
        """
from torch.utils.data import DataLoader, Dataset

class Words(Dataset):
    def __init__(self, embed):
        self.embed, self.cache = embed, {}

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = self.embed(torch.tensor(index)).tanh()
        return self.cache[index]

embed, out = nn.Embedding(4, 3), nn.Linear(3, 1)
loader = DataLoader(Words(embed), batch_size=2, collate_fn=torch.stack)
opt = torch.optim.SGD([*embed.parameters(), *out.parameters()], 0.1)
for epoch in range(2):
    for vectors in loader:
        loss = out(vectors).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    ),
    "cache of a network, read in another order in the second epoch": (
        "GS109",
        "self.cache",
        "recompute",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.out = nn.Parameter(torch.ones(3)), nn.Linear(3, 1)
        self.cache = {}

    def weights(self, key):
        if key not in self.cache:
            self.cache[key] = self.scale.exp() / (key + 1)
        return self.cache[key]

    def forward(self, x, key):
        return self.out(x * self.weights(key))

net = Net()
opt = torch.optim.SGD(net.parameters(), 0.1)
for keys in ((0, 1, 2, 3), (2, 0, 3, 1)):
    for key in keys:
        loss = net(torch.ones(2, 3), key).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    ),
    "state that is created below the pass of an inner loop": (
        "GS103",
        "state",
        "detach",
        """
cell, out = nn.GRUCell(3, 3), nn.Linear(3, 1)
opt = torch.optim.SGD([*cell.parameters(), *out.parameters()], 0.1)
state = torch.zeros(2, 3)
for epoch in range(3):
    for x in torch.ones(1, 2, 3):
        loss = out(cell(x, state)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        state = cell(x, state)
""",
    ),
    "prototypes that queries are compared with by the network": (
        "GS104",
        "prototypes",
        "move-into-loop",
        """
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
prototypes = net(torch.rand(2, 3)).tanh()
for x in torch.ones(3, 4, 3):
    loss = F.cross_entropy(net(x) @ prototypes.T, torch.zeros(4, dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "means of all losses so far": (
        "GS105",
        "totals",
        "item",
        """
nets = {name: nn.Linear(3, 1) for name in "ab"}
opt = torch.optim.SGD([each for net in nets.values() for each in net.parameters()], 0.1)
totals, count = {"a": 0.0, "b": 0.0}, 0
for x in torch.ones(3, 2, 3):
    count += 1
    for name, net in nets.items():
        totals[name] = totals[name] + net(x).pow(2).mean()
    loss = sum(total / count for total in totals.values())
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "one loss for two optimizers": (
        "GS101",
        "loss",
        "remove-backward",
        """
def update(loss, opts):
    for opt in opts:
        loss.backward()
        opt.step()

def main():
    body, head = nn.Linear(3, 3), nn.Linear(3, 1)
    opts = [torch.optim.SGD(each.parameters(), 0.1) for each in (body, head)]
    for x in torch.ones(2, 4, 3):
        loss = head(body(x).tanh()).pow(2).mean()
        update(loss, opts)

main()
""",
    ),
    "gradients that a function only looks at": (
        "GS107",
        "loss",
        "retain-graph",
        """
def measured(loss, weight, norms):
    norms.append(torch.autograd.grad(loss, weight)[0].norm().item())
    return loss

def main():
    net, norms = nn.Linear(3, 1), []
    opt = torch.optim.SGD(net.parameters(), 0.1)
    loss = measured(net(torch.ones(2, 3)).pow(2).mean(), net.weight, norms)
    opt.zero_grad()
    loss.backward()
    opt.step()

main()
""",
    ),
    "forward that a round makes for the next one": (
        "GS201",
        "value",
        "recompute",
        """
critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(critic.parameters(), 0.1)
value = critic(torch.ones(3))
for state in torch.ones(3, 3):
    following = critic(state)
    loss = (1.0 + following.detach() - value).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    value = following
""",
    ),
    "losses that were there before the loop over them": (
        "GS201",
        "loss",
        "recompute",
        """
def losses(actor, critic, state):
    return {"critic": critic(state).pow(2).mean(), "actor": actor(state).mean() - critic(actor(state)).mean()}

def main():
    actor, critic = nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    opts = {name: torch.optim.SGD(net.parameters(), 0.1) for name, net in {"actor": actor, "critic": critic}.items()}
    for name, loss in losses(actor, critic, torch.ones(2, 3)).items():
        opts[name].zero_grad()
        loss.backward()
        opts[name].step()

main()
""",
    ),
}


@pytest.mark.parametrize(("code", "name", "kind", "program"), PROGRAMS.values(), ids=PROGRAMS)
def test_step_is_distinguished_from_what_belongs_to_it(
    tmp_path: Path, code: str, name: str, kind: str, program: str
) -> None:
    """The cause is true of the program, and the first fix does what its author meant."""
    found = diagnosis_of(tmp_path, program)

    assert found.culprit is not None
    assert (found.code, found.culprit.name.partition("[")[0], found.fixes[0].kind) == (code, name, kind)
