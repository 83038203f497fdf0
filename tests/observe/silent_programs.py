"""Programs that never raise, by the rule that finds what is wrong with them: some under it, and near misses."""

from dataclasses import dataclass

_BEGIN = """\
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A program, with the code and the name of what is found; no code: nothing is."""

    title: str
    text: str
    code: str = ""
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule in a sentence, programs in which it finds something, and near misses, which it must leave alone."""

    sentence: str
    under: tuple[Program, ...]
    beyond: tuple[Program, ...]


def _found(title: str, code: str, name: str | None, text: str) -> Program:
    return Program(title, _BEGIN + text, code, name)


def _clean(title: str, text: str) -> Program:
    return Program(title, _BEGIN + text)


RULES = (
    Rule(
        "A number that is called as a term of a loss is, has a graph, and is never read was to be trained on.",
        under=(
            _found(
                "a divergence in a function that returns the other loss",
                "GS304",
                "kl_loss",
                """
enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()])

def objective(x):
    mu, logvar = enc(x).chunk(2, 1)
    rec_loss = F.mse_loss(dec(mu + torch.randn_like(mu) * (logvar / 2).exp()), x)
    kl_loss = -0.5 * (1 + logvar - mu.square() - logvar.exp()).sum(1).mean()
    return rec_loss

for _ in range(8):
    loss = objective(torch.randn(8, 6))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a term beside the sum",
                "GS304",
                "smoothness",
                """
net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    x = torch.randn(10, 3)
    y = net(x)
    data = (y - x.sum(1, keepdim=True)).square().mean()
    smoothness = (y[1:] - y[:-1]).abs().mean()
    loss = data + 1e-4 * sum(p.abs().sum() for p in net.parameters())
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a module that keeps it for nobody",
                "GS304",
                "net.balance",
                """
class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.expert = nn.Linear(4, 4), nn.Linear(4, 4)
        self.balance = None

    def forward(self, x):
        p = self.gate(x).softmax(-1)
        self.balance = p.mean(0).square().sum()
        return p * self.expert(x)

net = Mixture()
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    x = torch.randn(8, 4)
    loss = (net(x) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "all losses of a list but the last",
                "GS304",
                "losses[0]",
                """
stages = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
opt = torch.optim.SGD(stages.parameters(), lr=0.05)

def supervised(x, y):
    losses = []
    for stage in stages:
        x = stage(x).tanh()
        losses.append((x - y).square().mean())
    return losses

for _ in range(8):
    losses = supervised(torch.randn(6, 4), torch.randn(6, 4))
    opt.zero_grad()
    losses[-1].backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "metrics that are logged",
                """
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
log = []
for _ in range(8):
    pred, y = net(torch.randn(8, 4)), torch.randn(8, 1)
    loss = (pred - y).square().mean()
    mae_loss, perplexity = (pred - y).abs().mean(), loss.exp()
    log.append((mae_loss.item(), perplexity.item()))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "all losses of a list",
                """
stages = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
opt = torch.optim.SGD(stages.parameters(), lr=0.05)
for _ in range(8):
    x, y, losses = torch.randn(6, 4), torch.randn(6, 4), []
    for stage in stages:
        x = stage(x).tanh()
        losses.append((x - y).square().mean())
    last = losses[-1].item()
    opt.zero_grad()
    sum(losses).backward()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "A total that is only logged, of which a pass takes one term and none the other, was to be trained on.",
        under=(
            _found(
                "the total of a dict of losses",
                "GS304",
                "total",
                """
net, head = nn.Linear(4, 4), nn.Linear(4, 1)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()])
log = []
for _ in range(8):
    h = net(torch.randn(8, 4))
    terms = {"fit": (head(h) - 1).square().mean(), "size": h.square().mean()}
    total = terms["fit"] + 0.1 * terms["size"]
    opt.zero_grad()
    terms["fit"].backward()
    opt.step()
    log.append(total.item())
""",
            ),
            _found(
                "a total with a penalty",
                "GS304",
                "objective",
                """
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    fit = (net(torch.randn(8, 4)) - 1).square().mean()
    objective = fit + 0.01 * net.weight.abs().sum()
    opt.zero_grad()
    fit.backward()
    opt.step()
    print(objective.item())
""",
            ),
            _found(
                "a sum that was computed in a method",
                "GS304",
                "total",
                """
class Trainer:
    def __init__(self):
        self.net = nn.Linear(4, 2)
        self.opt = torch.optim.Adam(self.net.parameters())

    def losses(self, x):
        y = self.net(x)
        task, spread = y.square().mean(), y.std(0).mean()
        return task, task - spread

    def step(self, x):
        task, total = self.losses(x)
        self.opt.zero_grad()
        task.backward()
        self.opt.step()
        return total.item()

trainer = Trainer()
for _ in range(8):
    trainer.step(torch.randn(8, 4))
""",
            ),
        ),
        beyond=(
            _clean(
                "the other term joins later",
                """
net, head = nn.Linear(4, 4), nn.Linear(4, 1)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()])
log = []
for epoch in range(20):
    h = net(torch.randn(8, 4))
    fit = (head(h) - 1).square().mean()
    total = fit + 0.1 * h.square().mean()
    opt.zero_grad()
    if epoch < 12:
        fit.backward()
    else:
        total.backward()
    opt.step()
    log.append(total.item())
""",
            ),
            _clean(
                "the terms are trained on in turns",
                """
net = nn.Linear(4, 4)
opt = torch.optim.Adam(net.parameters())
log = []
for n in range(20):
    h = net(torch.randn(8, 4))
    one = (h - 1).square().mean()
    other = h.abs().mean()
    total = one + other
    opt.zero_grad()
    if n % 2:
        one.backward()
    else:
        other.backward()
    opt.step()
    log.append(total.item())
""",
            ),
        ),
    ),
    Rule(
        "A number that is multiplied by a weight and only logged was to be a term of the loss.",
        under=(
            _found(
                "a balance that the model returns",
                "GS304",
                "evenness",
                """
class Router(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.layer, self.balance_weight = nn.Linear(4, 4), weight

    def forward(self, x):
        p = self.layer(x).softmax(1)
        return p @ x.T, self.balance_weight * p.mean(0).square().sum()

net = Router(0.05)
opt = torch.optim.Adam(net.parameters())
log = []
for _ in range(8):
    out, evenness = net(torch.randn(8, 4))
    loss = out.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    log.append(evenness.item())
""",
            ),
            _found(
                "a divergence with its coefficient",
                "GS304",
                "kl",
                """
net, kl_coef = nn.Linear(4, 4), 0.1
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    y = net(torch.randn(8, 4))
    fit = (y - 1).square().mean()
    kl = kl_coef * (y.exp() - y - 1).mean()
    opt.zero_grad()
    fit.backward()
    opt.step()
    print(f"{fit.item():.2f} {kl.item():.2f}")
""",
            ),
            _found(
                "an attribute that is printed",
                "GS304",
                "net.spread",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.lambda_spread = nn.Linear(4, 4), 0.2

    def forward(self, x):
        y = self.layer(x)
        self.spread = self.lambda_spread * y.std(0).mean()
        return y

net = Net()
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    loss = net(torch.randn(8, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(net.spread.item())
""",
            ),
        ),
        beyond=(
            _clean(
                "what is weighted is in the loss, and the product is computed again for the log",
                """
net, beta = nn.Linear(4, 4), 0.1
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    y = net(torch.randn(8, 4))
    kl = (y.exp() - y - 1).mean()
    weighted = beta * kl
    loss = (y - 1).square().mean() + beta * kl
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(weighted.item())
""",
            ),
            _clean(
                "it is trained on once in a while",
                """
net, weight = nn.Linear(4, 4), 0.01
opt = torch.optim.Adam(net.parameters())
for n in range(24):
    y = net(torch.randn(8, 4))
    task = y.square().mean()
    balance = weight * y.softmax(1).mean(0).square().sum()
    opt.zero_grad()
    task.backward(retain_graph=True)
    if n % 8 == 7:
        balance.backward()
    opt.step()
    print(balance.item())
""",
            ),
            _clean(
                "a metric in other units",
                """
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    pred, y = net(torch.randn(8, 4)), torch.randn(8, 1)
    loss = (pred - y).square().mean()
    millimetres = 1000 * (pred - y).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(millimetres.item())
""",
            ),
        ),
    ),
    Rule(
        "Where gradients are cleared between the passes of one step, only the last of them trains.",
        under=(
            _found(
                "tasks in a loop, cleared in each iteration",
                "GS307",
                "loss",
                """
shared, heads = nn.Linear(4, 8), nn.ModuleList(nn.Linear(8, 1) for _ in range(3))
opt = torch.optim.SGD([*shared.parameters(), *heads.parameters()], lr=0.1)
for _ in range(24):
    for head in heads:
        loss = (head(shared(torch.randn(5, 4)).relu()) - 1).square().mean()
        opt.zero_grad()
        loss.backward()
    opt.step()
""",
            ),
            _found(
                "accumulation that begins again with each batch",
                "GS307",
                "loss",
                """
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for n in range(40):
    opt.zero_grad()
    loss = (net(torch.randn(8, 4)) - 1).square().mean() / 4
    loss.backward()
    if n % 4 == 3:
        opt.step()
""",
            ),
            _found(
                "views of one batch, by a model that clears itself",
                "GS307",
                "gap",
                """
net = nn.Linear(4, 2)
opt = torch.optim.Adam(net.parameters())
for _ in range(12):
    x = torch.randn(6, 4)
    for noise in (0.1, 0.2):
        net.zero_grad()
        gap = (net(x) - net(x + noise).detach() - 1).square().mean()
        gap.backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "a batch is skipped now and then",
                """
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for n in range(40):
    loss = (net(torch.randn(8, 4)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    if n % 5 == 3:
        opt.zero_grad()
        continue
    opt.step()
""",
            ),
            _clean(
                "gradients of several passes add up",
                """
shared, heads = nn.Linear(4, 8), nn.ModuleList(nn.Linear(8, 1) for _ in range(3))
opt = torch.optim.SGD([*shared.parameters(), *heads.parameters()], lr=0.1)
for _ in range(24):
    opt.zero_grad()
    for head in heads:
        loss = (head(shared(torch.randn(5, 4)).relu()) - 1).square().mean()
        loss.backward()
    opt.step()
""",
            ),
        ),
    ),
)
