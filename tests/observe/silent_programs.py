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
    Rule(
        "A pass that waits for a counter takes the last loss alone, if nothing else runs meanwhile.",
        under=(
            _found(
                "a loss that is divided for accumulation",
                "GS304",
                "loss",
                """
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for n in range(32):
    loss = (net(torch.randn(8, 4)) - 1).square().mean()
    loss = loss / 4
    if (n + 1) % 4 == 0:
        loss.backward()
        opt.step()
        opt.zero_grad()
""",
            ),
            _found(
                "in a function, with a log",
                "GS304",
                "loss",
                """
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)

def train(every):
    total = 0.0
    for n in range(24):
        loss = F.mse_loss(net(torch.randn(8, 4)), torch.ones(8, 1)) / every
        total += loss.item()
        if n % every == every - 1:
            loss.backward()
            opt.step()
            opt.zero_grad()
    return total

train(3)
""",
            ),
            _found(
                "in a method, by a counter of its own",
                "GS304",
                "cost",
                """
class Learner:
    def __init__(self):
        self.net, self.seen = nn.Linear(4, 1), 0
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def fit(self, batches):
        for x in batches:
            cost = self.net(x).square().mean()
            self.seen += 1
            if self.seen % 5 == 0:
                self.opt.zero_grad()
                cost.backward()
                self.opt.step()

Learner().fit(torch.randn(40, 8, 4))
""",
            ),
        ),
        beyond=(
            _clean(
                "a state leads on from iteration to iteration",
                """
cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
state = torch.zeros(1, 4)
for t in range(40):
    state = cell(torch.randn(1, 3), state)
    loss = head(state).square().mean()
    if (t + 1) % 5 == 0:
        opt.zero_grad()
        loss.backward()
        opt.step()
        state = state.detach()
""",
            ),
            _clean(
                "the other network is trained meanwhile",
                """
gen, disc = nn.Linear(2, 4), nn.Linear(4, 1)
og, od = torch.optim.Adam(gen.parameters()), torch.optim.Adam(disc.parameters())
for n in range(40):
    real, fake = torch.randn(8, 4), gen(torch.randn(8, 2))
    od.zero_grad()
    (disc(fake.detach()).mean() - disc(real).mean()).backward()
    od.step()
    loss = -disc(fake).mean()
    if n % 5 == 0:
        og.zero_grad()
        loss.backward()
        og.step()
""",
            ),
            _clean(
                "the program chooses by the loss",
                """
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for n in range(40):
    loss = net(torch.randn(8, 4)).square().mean()
    if n % 2 and loss > 0.1:
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
            ),
        ),
    ),
    Rule(
        "A graph grows, though no optimizer steps, if the values of a parameter change from pass to pass.",
        under=(
            _found(
                "gradients that are asked for",
                "GS305",
                "h",
                """
w, h = torch.randn(4, 4, requires_grad=True), torch.zeros(4)
for _ in range(24):
    h = torch.tanh(w @ h + torch.randn(4))
    grad, = torch.autograd.grad(h.square().sum(), w, retain_graph=True)
    w.data -= 0.01 * grad
""",
            ),
            _found(
                "an update in place, through data",
                "GS305",
                "h",
                """
w, h = torch.randn(4, 4, requires_grad=True), torch.zeros(4)
for _ in range(24):
    h = torch.tanh(w @ h + torch.randn(4))
    h.square().sum().backward(retain_graph=True)
    w.data.sub_(0.01 * w.grad)
    w.grad = None
""",
            ),
            _found(
                "a module whose data is replaced",
                "GS305",
                "state",
                """
cell, state = nn.RNNCell(3, 3), torch.zeros(1, 3)
for _ in range(24):
    state = cell(torch.randn(1, 3), state)
    cell.zero_grad()
    state.abs().sum().backward(retain_graph=True)
    for p in cell.parameters():
        p.data = p.data - 0.01 * p.grad
""",
            ),
        ),
        beyond=(
            _clean(
                "several passes before each update",
                """
w = torch.randn(4, 4, requires_grad=True)
for _ in range(8):
    h = torch.zeros(4)
    for t in range(6):
        h = torch.tanh(w @ h + torch.randn(4))
        h.square().sum().backward(retain_graph=t < 5)
    w.data -= 0.01 * w.grad
    w.grad.zero_()
""",
            ),
        ),
    ),
    Rule(
        "A re-entrant checkpoint that is given nothing with a gradient cuts off what it runs.",
        under=(
            _found(
                "a stem",
                "GS306",
                "h",
                """
from torch.utils.checkpoint import checkpoint

stem, head = nn.Linear(4, 4), nn.Linear(4, 2)
opt = torch.optim.SGD([*stem.parameters(), *head.parameters()], lr=0.1)
for _ in range(10):
    h = checkpoint(stem, torch.randn(5, 4), use_reentrant=True)
    loss = head(h).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a function",
                "GS306",
                "h",
                """
from torch.utils.checkpoint import checkpoint

stem, head = nn.Linear(4, 4), nn.Linear(4, 2)
opt = torch.optim.SGD([*stem.parameters(), *head.parameters()], lr=0.1)

def run(x):
    return torch.tanh(stem(x))

for _ in range(10):
    h = checkpoint(run, torch.randn(5, 4), use_reentrant=True)
    loss = head(h).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "blocks of a network",
                "GS306",
                "x",
                """
from torch.utils import checkpoint

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return x + self.layer(x).relu()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.out = nn.ModuleList([Block(), Block()]), nn.Linear(4, 1)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint.checkpoint(block, x, use_reentrant=True)
        return self.out(x)

net = Net()
opt = torch.optim.Adam(net.parameters())
for _ in range(10):
    loss = net(torch.randn(5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "something that it is given has a gradient",
                """
from torch.utils.checkpoint import checkpoint

embed, stem, head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)
opt = torch.optim.SGD([*embed.parameters(), *stem.parameters(), *head.parameters()], lr=0.1)
for _ in range(10):
    h = checkpoint(stem, embed(torch.randn(5, 4)), use_reentrant=True)
    loss = head(h).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "what it runs is only looked at",
                """
from torch.utils.checkpoint import checkpoint

net, probe = nn.Linear(4, 2), nn.Linear(4, 2)
opt = torch.optim.SGD([*net.parameters(), *probe.parameters()], lr=0.1)
for _ in range(10):
    x = torch.randn(5, 4)
    shown = checkpoint(probe, x, use_reentrant=True)
    loss = net(x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(shown.mean().item())
""",
            ),
        ),
    ),
    Rule(
        "A parameter that no module has is cut off like any other.",
        under=(
            _found(
                "a penalty that is computed without recording",
                "GS306",
                "log_sigma",
                """
net, log_sigma = nn.Linear(6, 3), nn.Parameter(torch.zeros(3))
opt = torch.optim.Adam([*net.parameters(), log_sigma])
for _ in range(10):
    fit = net(torch.randn(8, 6)).square().mean()
    with torch.no_grad():
        penalty = (log_sigma.exp() - 1).square().sum()
    loss = fit + 0.1 * penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a helper that does not record",
                "GS306",
                "alpha",
                """
@torch.no_grad()
def constraint(weights):
    return (weights.sum() - 1).clamp(min=0) ** 2

def main():
    net, alpha = nn.Linear(4, 1), torch.ones(3, requires_grad=True)
    opt = torch.optim.SGD([*net.parameters(), alpha], lr=0.1)
    for _ in range(10):
        loss = net(torch.randn(5, 4)).square().mean() + constraint(alpha)
        opt.zero_grad()
        loss.backward()
        opt.step()

main()
""",
            ),
            _found(
                "an attribute of a trainer",
                "GS306",
                "self.log_alpha",
                """
class Trainer:
    def __init__(self):
        self.net, self.log_alpha = nn.Linear(4, 1), torch.zeros(1, requires_grad=True)
        self.opt = torch.optim.Adam([*self.net.parameters(), self.log_alpha])

    def step(self):
        weight = self.log_alpha.exp().item()
        loss = weight * self.net(torch.randn(5, 4)).square().mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

trainer = Trainer()
for _ in range(10):
    trainer.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "nothing is done with it",
                """
net, spare = nn.Linear(4, 1), nn.Parameter(torch.zeros(3))
opt = torch.optim.Adam([*net.parameters(), spare])
for _ in range(10):
    loss = net(torch.randn(5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(spare.detach().sum())
""",
            ),
            _clean(
                "it is frozen at first",
                """
net, scale = nn.Linear(4, 1), nn.Parameter(torch.ones(1))
opt = torch.optim.Adam([*net.parameters(), scale])
for n in range(20):
    factor = scale.detach() if n < 10 else scale
    loss = (factor * net(torch.randn(5, 4)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "it is updated by hand",
                """
net, centre = nn.Linear(4, 3), nn.Parameter(torch.zeros(3))
opt = torch.optim.Adam([*net.parameters(), centre])
for _ in range(20):
    out = net(torch.randn(5, 4))
    with torch.no_grad():
        centre.copy_(0.9 * centre + 0.1 * out.mean(0))
        target = centre.clone()
    loss = (out - target - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "What a method gives back cut off, and its caller makes the loss of, is a cut.",
        under=(
            _found(
                "weights as a list",
                "GS306",
                "self.scores",
                """
class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores, self.scale = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.ones(()))

    def weights(self):
        return self.scores.softmax(0).tolist()

    def forward(self, states):
        return self.scale * sum(weight * state for weight, state in zip(self.weights(), states))

mix, head = Mix(), nn.Linear(4, 2)
opt = torch.optim.Adam([*mix.parameters(), *head.parameters()])
for _ in range(10):
    loss = head(mix(torch.randn(3, 5, 4))).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a radius from a helper",
                "GS306",
                "net.radius",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.radius = nn.Linear(4, 3), nn.Parameter(torch.ones(()))

    def forward(self, x):
        return self.layer(x)

def limit(net):
    return float(net.radius)

def main():
    net = Net()
    opt = torch.optim.Adam(net.parameters())
    for _ in range(10):
        loss = F.relu(net(torch.randn(5, 4)).norm(dim=1) - limit(net)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

main()
""",
            ),
            _found(
                "a temperature through a property",
                "GS306",
                "bounded",
                """
class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.log_t = nn.Linear(4, 3), nn.Parameter(torch.zeros(()))

    @property
    def temperature(self):
        bounded = self.log_t.clamp(-2, 2).exp()
        return bounded.item()

    def forward(self, x):
        return self.layer(x) / self.temperature

net = Scores()
opt = torch.optim.Adam(net.parameters())
for _ in range(10):
    loss = F.cross_entropy(net(torch.randn(5, 4)), torch.randint(3, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "weights that are only printed",
                """
class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores, self.spare = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(3))

    def weights(self):
        return self.spare.softmax(0).tolist()

    def forward(self, states):
        return (self.scores.softmax(0)[:, None, None] * states).sum(0)

mix, head = Mix(), nn.Linear(4, 2)
opt = torch.optim.Adam([*mix.parameters(), *head.parameters()])
for _ in range(10):
    out = head(mix(torch.randn(3, 5, 4)))
    print(mix.weights())
    loss = out.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "What a statement hands from one call to another has no name there, and is followed all the same.",
        under=(
            _found(
                "codes that are looked up",
                "GS306",
                "code",
                """
class Nearest(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(6, 3)

    def forward(self, z):
        index = torch.cdist(z, self.table.weight).argmin(1)
        found = self.table(index)
        code = z + (found - z)
        return code.detach(), F.mse_loss(found, z.detach())

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.nearest, self.decoder = nn.Linear(4, 3), Nearest(), nn.Linear(3, 4)

    def forward(self, x):
        code, loss = self.nearest(self.encoder(x))
        return self.decoder(code), loss

net = Net()
opt = torch.optim.Adam(net.parameters())
for _ in range(10):
    x = torch.randn(5, 4)
    out, code_loss = net(x)
    loss = F.mse_loss(out, x) + code_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a stop-gradient beside it is a target",
                "GS306",
                "code",
                """
encoder, decoder = nn.Linear(4, 3), nn.Linear(3, 4)
table = nn.Parameter(torch.randn(3))
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), table])

def parts(z):
    shift = F.mse_loss(table.expand(5, 3), z.detach())
    code = (z + (table - z)).detach()
    return code, shift

for _ in range(10):
    x = torch.randn(5, 4)
    code, shift = parts(encoder(x))
    loss = F.mse_loss(decoder(code), x) + shift
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a function of features",
                "GS306",
                "features",
                """
encoder, head = nn.Linear(4, 3), nn.Linear(3, 2)
opt = torch.optim.Adam([*encoder.parameters(), *head.parameters()])

def classified(features):
    return head(features.data.relu())

for _ in range(10):
    loss = classified(encoder(torch.randn(5, 4))).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "a message that the next iteration hears, and that is cut off from this one",
                """
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.predict, self.speak = nn.Linear(5, 8), nn.Linear(8, 2), nn.Linear(8, 3)

    def forward(self, seen, heard):
        thought = self.body(torch.cat([seen, heard], 1)).tanh()
        return self.predict(thought), self.speak(thought)

agent, heard = Agent(), torch.zeros(4, 3)
opt = torch.optim.Adam(agent.parameters())
for _ in range(12):
    expected, said = agent(torch.randn(4, 2), heard)
    loss = (expected - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    heard = said.detach()
""",
            ),
            _clean(
                "another call of the statement cuts what is its own",
                """
encoder, head, spare = nn.Linear(4, 3), nn.Linear(3, 2), nn.Linear(4, 3)
opt = torch.optim.Adam([*encoder.parameters(), *head.parameters(), *spare.parameters()])

def shifted(target):
    return target.detach() + 1

for _ in range(10):
    x = torch.randn(5, 4)
    print(spare(x).mean().item())
    loss = F.mse_loss(head(encoder(x)), shifted(torch.zeros(5, 2)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "An optimizer was to have what stands in the place of parameters that it has, and what is in a plain list of a "
        "model of which it has the rest.",
        under=(
            _found(
                "a head that is exchanged",
                "GS306",
                "net[2]",
                """
net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 9))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net[2] = nn.Linear(6, 2)
for _ in range(20):
    loss = F.cross_entropy(net(torch.randn(5, 4)), torch.randint(2, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a table that grows between two phases",
                "GS306",
                "self.table",
                """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(5, 4), nn.Linear(4, 1)

    def grow(self, count):
        wider = nn.Embedding(count, 4)
        wider.weight.data[: len(self.table.weight)] = self.table.weight.data
        self.table = wider

model = Model()
opt = torch.optim.Adam(model.parameters())
for phase in range(3):
    model.grow(10 + 5 * phase)
    for _ in range(10):
        loss = model.out(model.table(torch.randint(10, (8,)))).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
            ),
            _found(
                "blocks in a list, of which the last leads nowhere in part",
                "GS306",
                "blocks",
                """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.back, self.ahead = nn.Linear(4, 4), nn.Linear(4, 1)

class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.blocks = [Block() for _ in range(3)]

    def forward(self, x):
        total = 0.0
        for block in self.blocks:
            total = total + block.ahead(x)
            x = x - block.back(x)
        return total * self.scale

stack = Stack()
opt = torch.optim.Adam(stack.parameters())
for _ in range(20):
    loss = (stack(torch.randn(5, 4)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "layers in a list",
                "GS306",
                "layers",
                """
class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.out = nn.Linear(4, 4), nn.Linear(4, 1)
        self.layers = [nn.Linear(4, 4) for _ in range(3)]

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(self.inner(x)).relu()
        return self.out(x)

tower = Tower()
opt = torch.optim.Adam(tower.parameters())
for _ in range(20):
    loss = tower(torch.randn(5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "a backbone that only its head is trained on",
                """
net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
opt = torch.optim.SGD(net[2].parameters(), lr=0.1)
for _ in range(20):
    loss = F.cross_entropy(net(torch.randn(5, 4)), torch.randint(2, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "a judge that is hidden from the model in a list",
                """
class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.judge = nn.Linear(4, 4), [nn.Sequential(nn.Linear(4, 3), nn.Tanh())]

    def loss(self, x):
        return self.judge[0](self.layer(x)).square().mean()

generator = Generator()
opt = torch.optim.SGD(generator.parameters(), lr=0.1)
for _ in range(20):
    loss = generator.loss(torch.randn(5, 4))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "critics in a list, one of which no loss reaches",
                """
class Judged(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)
        self.critics = [nn.Linear(4, 1) for _ in range(2)]

judged = Judged()
opt = torch.optim.Adam(judged.parameters())
for _ in range(20):
    loss = judged.critics[0](judged.net(torch.randn(5, 4))).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "layers in a list that have a group of their own",
                """
class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.out, self.layers = nn.Linear(4, 1), [nn.Linear(4, 4) for _ in range(3)]

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x).relu()
        return self.out(x)

tower = Tower()
opt = torch.optim.SGD(tower.parameters(), lr=0.1)
opt.add_param_group({"params": [each for layer in tower.layers for each in layer.parameters()]})
for _ in range(20):
    loss = tower(torch.randn(5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "layers in a list that are trained by hand",
                """
class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.out, self.layers = nn.Linear(4, 1), [nn.Linear(4, 4) for _ in range(3)]

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x).relu()
        return self.out(x)

tower = Tower()
opt = torch.optim.SGD(tower.parameters(), lr=0.1)
for _ in range(20):
    loss = tower(torch.randn(5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for layer in tower.layers:
        for each in layer.parameters():
            each.data -= 0.1 * each.grad
            each.grad = None
""",
            ),
        ),
    ),
    Rule(
        "What took the place of parameters is named by the attributes in which it did, of however many objects.",
        under=(
            _found(
                "a step size that the first batch sets, in two parts of each layer",
                "GS306",
                "self.step",
                """
class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.step, self.is_set = nn.Parameter(torch.ones(1)), False

    def forward(self, x):
        if not self.is_set:
            self.step = nn.Parameter(x.detach().abs().mean())
            self.is_set = True
        return x + self.step * (x / self.step).sin()

class Quantized(nn.Linear):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.of_weight, self.of_input = Quantizer(), Quantizer()

    def forward(self, x):
        return F.linear(self.of_input(x), self.of_weight(self.weight), self.bias)

net = nn.Sequential(Quantized(4, 6), nn.Tanh(), Quantized(6, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    loss = F.cross_entropy(net(torch.randn(5, 4)), torch.randint(2, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "two parameters of a normalization, by the first batch",
                "GS306",
                "self.scale",
                """
class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.is_new = True

    def start(self, x):
        self.scale = nn.Parameter(1 / x.std(0))
        self.shift = nn.Parameter(-x.mean(0))
        self.is_new = False

    def forward(self, x):
        if self.is_new:
            self.start(x)
        return (x + self.shift) * self.scale

net = nn.Sequential(nn.Linear(4, 6), Norm(6), nn.ReLU(), nn.Linear(6, 1))
opt = torch.optim.Adam(net.parameters())
for _ in range(20):
    loss = net(torch.randn(9, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a gain that is calibrated from outside",
                "GS306",
                "model.norm.gain",
                """
class Gain(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * self.gain

def calibrate(model, x):
    model.norm.gain = nn.Parameter(1 / model.inner(x).detach().std(0))

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.norm = nn.Linear(4, 3), Gain()

    def forward(self, x):
        return self.norm(self.inner(x))

model = Model()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
calibrate(model, torch.randn(30, 4))
for _ in range(20):
    loss = model(torch.randn(5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "a layer that a first forward builds, before the optimizer is created",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 6), nn.Linear(1, 1)
        self.is_built = False

    def forward(self, x):
        x = self.body(x).relu()
        if not self.is_built:
            self.head, self.is_built = nn.Linear(x.shape[1], 2), True
        return self.head(x)

net = Net()
net(torch.randn(1, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    loss = F.cross_entropy(net(torch.randn(5, 4)), torch.randint(2, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "a lazy layer, of which the parameters stay the same objects",
                """
net = nn.Sequential(nn.LazyLinear(6), nn.ReLU(), nn.LazyLinear(2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    loss = F.cross_entropy(net(torch.randn(5, 4)), torch.randint(2, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "a parameter that is replaced before the optimizer is created",
                """
net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
net[2].bias = nn.Parameter(torch.full((2,), 0.5))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    loss = F.cross_entropy(net(torch.randn(5, 4)), torch.randint(2, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "weights that are parametrized, which keeps them",
                """
from torch.nn.utils import parametrize, parametrizations

class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).T

net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), parametrizations.weight_norm(nn.Linear(4, 2)))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
parametrize.register_parametrization(net[0], "weight", Symmetric())
for _ in range(20):
    loss = F.cross_entropy(net(torch.randn(5, 4)), torch.randint(2, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "a fresh head for an evaluation, with an optimizer of its own",
                """
net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    loss = F.cross_entropy(net(torch.randn(5, 4)), torch.randint(3, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()

net[2] = nn.Linear(6, 2)
probe = torch.optim.SGD(net[2].parameters(), lr=0.1)
for _ in range(20):
    loss = F.cross_entropy(net(torch.randn(5, 4)), torch.randint(2, (5,)))
    probe.zero_grad()
    loss.backward()
    probe.step()
""",
            ),
            _clean(
                "a step size that the first batch is copied into",
                """
class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.step, self.is_set = nn.Parameter(torch.ones(1)), False

    def forward(self, x):
        if not self.is_set:
            with torch.no_grad():
                self.step.copy_(x.abs().mean())
            self.is_set = True
        return x + self.step * (x / self.step).sin()

net = nn.Sequential(nn.Linear(4, 6), Quantizer(), nn.Linear(6, 2), Quantizer())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    loss = F.cross_entropy(net(torch.randn(5, 4)), torch.randint(2, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "A sum that a statement computes and drops was to be the loss.",
        under=(
            _found(
                "a divergence that is not assigned",
                "GS304",
                "kl",
                """
net, beta = nn.Linear(4, 4), 0.1
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    y = net(torch.randn(8, 4))
    kl = (y.exp() - y - 1).mean()
    loss = (y - 1).square().mean()
    loss + beta * kl
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "an entropy in a method",
                "GS304",
                "self.spread",
                """
class Agent:
    def __init__(self):
        self.net, self.spread = nn.Linear(4, 4), None
        self.opt = torch.optim.Adam(self.net.parameters())

    def loss(self, x):
        y = self.net(x)
        self.spread = y.std(0).mean()
        loss = y.square().mean()
        loss - 0.1 * self.spread
        return loss

    def step(self, x):
        loss = self.loss(x)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

agent = Agent()
for _ in range(8):
    agent.step(torch.randn(8, 4))
""",
            ),
            _found(
                "a term of a list",
                "GS304",
                "terms[1]",
                """
net = nn.Linear(4, 4)
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    y = net(torch.randn(8, 4))
    terms = [(y - 1).square().mean(), y.abs().mean()]
    terms[0] + terms[1]
    opt.zero_grad()
    terms[0].backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "the sum is assigned",
                """
net, beta = nn.Linear(4, 4), 0.1
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    y = net(torch.randn(8, 4))
    kl = (y.exp() - y - 1).mean()
    loss = (y - 1).square().mean()
    loss = loss + beta * kl
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "a sum without a graph",
                """
net, seen = nn.Linear(4, 4), torch.zeros(())
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    loss = net(torch.randn(8, 4)).square().mean()
    seen + loss.detach()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "A pass for a penalty takes no loss, and does not end the search for parameters that are cut off.",
        under=(
            _found(
                "a frequency of a sine, where derivatives are taken first",
                "GS306",
                "self.omega",
                """
class Sine(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.linear = nn.Linear(n_in, n_out)
        self.omega = nn.Parameter(torch.tensor(3.0))
    def forward(self, x):
        w = self.omega.item()
        return torch.sin(w * self.linear(x))
net = nn.Sequential(Sine(2, 8), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters())
for t in range(20):
    x = torch.rand(16, 2, requires_grad=True)
    u = net(x)
    du, = torch.autograd.grad(u.sum(), x, create_graph=True)
    loss = (du.sum(1) - u.squeeze(1)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a slope of a critic with a penalty on its gradient",
                "GS306",
                "self.slope",
                """
class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 8)
        self.slope = nn.Parameter(torch.tensor(0.2))
        self.out = nn.Linear(8, 1)
    def forward(self, x):
        return self.out(nn.functional.leaky_relu(self.body(x), float(self.slope)))
critic = Critic()
opt = torch.optim.Adam(critic.parameters())
for t in range(20):
    real, fake = torch.randn(8, 3), torch.randn(8, 3) + 1
    mix = (0.5 * real + 0.5 * fake).requires_grad_()
    grads, = torch.autograd.grad(critic(mix).sum(), mix, create_graph=True)
    loss = critic(fake).mean() - critic(real).mean() + 10 * (grads.norm(dim=1) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a rate of an inner step that is read as a number",
                "GS306",
                "self.rate",
                """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3))
        self.rate = nn.Parameter(torch.tensor(0.1))
    def adapted(self, x, y):
        inner = (x @ self.w - y).square().mean()
        g, = torch.autograd.grad(inner, self.w, create_graph=True)
        return self.w - self.rate.item() * g
model = Base()
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for task in range(20):
    x = torch.randn(10, 3)
    y = x.sum(1) * (task % 3)
    fast = model.adapted(x[:5], y[:5])
    loss = (x[5:] @ fast - y[5:]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "a frequency that is only noted, in a network of sines",
                """
class Sine(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(2, 8), nn.Linear(8, 1)
        self.omega = nn.Parameter(torch.tensor(3.0))
        self.seen = []
    def forward(self, x):
        self.seen.append(self.omega.item())
        return self.outer(torch.sin(3.0 * self.inner(x)))
net = Sine()
opt = torch.optim.Adam(net.parameters())
for t in range(20):
    x = torch.rand(16, 2, requires_grad=True)
    u = net(x)
    du, = torch.autograd.grad(u.sum(), x, create_graph=True)
    loss = (du.sum(1) - u.squeeze(1)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "A parameter that a method reads which is not forward is cut off like any other.",
        under=(
            _found(
                "a scale of noise, by the functions of math",
                "GS306",
                "self.log_sigma",
                """
import math

class Noise(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(2, 1)
        self.log_sigma = nn.Parameter(torch.tensor(-1.0))
    def nll(self, x, y):
        s = math.exp(self.log_sigma)
        return ((self.f(x) - y) / s).square().mean() / 2 + math.log(s)
m = Noise()
opt = torch.optim.Adam(m.parameters(), lr=.01)
for t in range(30):
    x = torch.randn(5, 2)
    l = m.nll(x, x.sum(1, keepdim=True))
    opt.zero_grad()
    l.backward()
    opt.step()
""",
            ),
            _found(
                "a deviation of weights, read through .data",
                "GS306",
                "self.rho",
                """
class Bayes(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Parameter(torch.zeros(3))
        self.rho = nn.Parameter(torch.full((3,), -3.0))
    def sample(self):
        sigma = torch.nn.functional.softplus(self.rho.data)
        return self.mu + sigma * torch.randn(3)
    def elbo(self, x):
        w = self.sample()
        return (x @ w - 1).square().mean() + 0.01 * self.mu.square().sum()
m = Bayes()
opt = torch.optim.Adam(m.parameters(), lr=.01)
for t in range(40):
    opt.zero_grad()
    m.elbo(torch.randn(8, 3)).backward()
    opt.step()
""",
            ),
            _found(
                "a deviation of a policy that acts",
                "GS306",
                "self.log_std",
                """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(4, 2)
        self.log_std = nn.Parameter(torch.zeros(2))
    def act(self, state):
        std = self.log_std.detach().exp()
        dist = torch.distributions.Normal(self.mean(state), std)
        action = dist.sample()
        return action, dist.log_prob(action).sum(-1)
policy = Policy()
opt = torch.optim.Adam(policy.parameters())
for episode in range(20):
    action, logp = policy.act(torch.randn(6, 4))
    reward = -action.square().sum(-1)
    loss = -(logp * reward).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "a parameter that a method only notes",
                """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(2, 1)
        self.tau = nn.Parameter(torch.tensor(0.5))
        self.log = []
    def loss(self, x):
        out = self.f(x)
        self.log.append(float(self.tau))
        return out.square().mean()
m = Model()
opt = torch.optim.Adam(m.parameters())
for t in range(30):
    opt.zero_grad()
    m.loss(torch.randn(4, 2)).backward()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "Passes that a function is handed their losses for are told apart by who hands them.",
        under=(
            _found(
                "an engine that clears between two losses",
                "GS307",
                "policy",
                """
class Engine:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=.1)
    def backward(self, loss):
        loss.backward()
    def step(self):
        self.opt.step()
    def clear(self):
        self.opt.zero_grad()
net = nn.Linear(3, 2)
engine = Engine(net)
for t in range(30):
    x = torch.randn(8, 3)
    engine.clear()
    policy = net(x)[:, 0].square().mean()
    engine.backward(policy)
    engine.clear()
    value = (net(x)[:, 1] - 1).square().mean()
    engine.backward(value)
    engine.step()
""",
            ),
            _found(
                "a penalty that comes after the step",
                "GS307",
                "penalty",
                """
class Engine:
    def backward(self, loss):
        loss.backward()
def main():
    e = Engine()
    net = nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=.1)
    for t in range(30):
        x = torch.randn(8, 3)
        opt.zero_grad()
        main_loss = net(x)[:, 0].square().mean()
        e.backward(main_loss)
        opt.step()
        penalty = 0.1 * net.weight.square().sum()
        e.backward(penalty)
main()
""",
            ),
            _found(
                "a fabric that is given the tensor",
                "GS307",
                "fit",
                """
class Fabric:
    def __init__(self, scale):
        self.scale = scale
    def backward(self, tensor):
        scaled = tensor
        torch.autograd.backward(tensor)
def train(net, fabric):
    opt = torch.optim.Adam(net.parameters())
    for t in range(30):
        x = torch.randn(8, 3)
        opt.zero_grad()
        fit = (net(x) - 1).square().mean()
        fabric.backward(fit)
        opt.zero_grad()
        smooth = net(x + 0.01).sub(net(x)).square().mean()
        fabric.backward(smooth)
        opt.step()
train(nn.Linear(3, 1), Fabric(1))
""",
            ),
        ),
        beyond=(
            _clean(
                "an engine with a step for each of two losses",
                """
class Engine:
    def backward(self, loss):
        loss.backward()
e = Engine()
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=.1)
for t in range(30):
    x = torch.randn(8, 3)
    opt.zero_grad()
    e.backward(net(x)[:, 0].square().mean())
    opt.step()
    opt.zero_grad()
    e.backward((net(x)[:, 1] - 1).square().mean())
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "In a program without optimizer and backward(), passes of autograd.grad stand for steps.",
        under=(
            _found(
                "a dict of lists beside a dict of parameters",
                "GS301",
                'history["loss"]',
                """
params = {"w": torch.randn(3, 2, requires_grad=True), "b": torch.zeros(2, requires_grad=True)}
history = {"loss": []}
for t in range(60):
    x = torch.randn(8, 3)
    loss = (x @ params["w"] + params["b"]).square().mean()
    gs = torch.autograd.grad(loss, list(params.values()))
    params = {k: (p - 0.1 * g).detach().requires_grad_() for (k, p), g in zip(params.items(), gs)}
    history["loss"].append(loss)
print(torch.stack(history["loss"]).mean().item())
""",
            ),
            _found(
                "a fit that makes its leaf in every step",
                "GS301",
                "self.trace",
                """
class Fit:
    def __init__(self):
        self.theta = torch.zeros(3)
        self.trace = []
    def step(self, x):
        theta = self.theta.clone().requires_grad_()
        loss = ((x * theta).sum(1) - 1).square().mean()
        g, = torch.autograd.grad(loss, theta)
        self.theta = self.theta - 0.1 * g
        self.trace.append(loss)
fit = Fit()
for t in range(80):
    fit.step(torch.randn(16, 3))
print(min(each.item() for each in fit.trace))
""",
            ),
            _found(
                "a sum beside weights that are changed by hand",
                "GS301",
                "total",
                """
w = torch.zeros(2, requires_grad=True)
total = 0.0
for t in range(80):
    x = torch.randn(16, 2)
    loss = (x @ w - x.sum(1)).square().mean()
    total = total + loss
    (g,) = torch.autograd.grad(loss, [w])
    with torch.no_grad():
        w -= 0.05 * g
print(float(total))
""",
            ),
        ),
        beyond=(
            _clean(
                "derivatives of ever higher order",
                """
x = torch.tensor(0.3, requires_grad=True)
derivs = [torch.sin(x) * torch.exp(x)]
for k in range(12):
    d, = torch.autograd.grad(derivs[-1], x, create_graph=True)
    derivs.append(d)
print([float(d) for d in derivs])
""",
            ),
            _clean(
                "the rows of a Hessian",
                """
w = torch.randn(12, requires_grad=True)
for step in range(6):
    f = (w.sin() * w.roll(1)).sum()
    g, = torch.autograd.grad(f, w, create_graph=True)
    rows = []
    for k in range(12):
        row, = torch.autograd.grad(g[k], w, create_graph=True)
        rows.append(row)
    H = torch.stack(rows)
    t, = torch.autograd.grad(H.diagonal().sum(), w)
    with torch.no_grad():
        w -= 0.01 * t
""",
            ),
        ),
    ),
    Rule(
        "Gradients that are cleared are lost where no code of the program reads them; a comment is no code.",
        under=(
            _found(
                "of the first of two losses",
                "GS307",
                "loss_a",
                """
# p.grad.norm() was printed here once
net = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 2))
opt = torch.optim.SGD(net.parameters(), lr=.1)
for t in range(30):
    a, b = torch.randn(8, 3), torch.randn(8, 3)
    opt.zero_grad()
    loss_a = net(a)[:, 0].square().mean()
    loss_a.backward()
    opt.zero_grad()
    loss_b = (net(b)[:, 1] - 1).square().mean()
    loss_b.backward()
    opt.step()
""",
            ),
            _found(
                "of all tasks but the last",
                "GS307",
                "loss",
                """
# p.grad.norm() was printed here once
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=.1)
tasks = [torch.randn(8, 3) + i for i in range(4)]
for epoch in range(20):
    for x in tasks:
        opt.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
    opt.step()
""",
            ),
            _found(
                "of a pass that comes after the step",
                "GS307",
                "loss",
                """
# p.grad.norm() was printed here once
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=.1)
def train_step(x):
    opt.zero_grad()
    loss = (net(x) - 1).square().mean()
    opt.step()
    loss.backward()
    return loss.item()
for t in range(30):
    train_step(torch.randn(8, 3))
""",
            ),
        ),
        beyond=(
            _clean(
                "gradients of several tasks, read before they are cleared",
                """
# the gradients of the tasks are compared
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=.1)
def flat():
    return torch.cat([p.grad.flatten() for p in net.parameters()])
for t in range(30):
    directions = []
    for k in range(3):
        opt.zero_grad()
        net(torch.randn(8, 3))[:, k % 2].square().mean().backward()
        directions.append(flat())
    opt.step()
""",
            ),
            _clean(
                "gradients that are put together again",
                """
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=.1)
for t in range(30):
    stored = []
    for k in range(2):
        opt.zero_grad()
        net(torch.randn(8, 3))[:, k].square().mean().backward()
        stored.append([p.grad.clone() for p in net.parameters()])
    opt.zero_grad()
    for p, *gs in zip(net.parameters(), *stored):
        p.grad = sum(gs)
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "What a step takes that the program has put into `.grad` itself is no gradient that piled up.",
        under=(
            _found(
                "weights of tasks that nobody clears",
                "GS303",
                "to_weights",
                """
net, weights = nn.Linear(4, 2), nn.Parameter(torch.ones(2))
opt, to_weights = torch.optim.SGD(net.parameters(), 0.1), torch.optim.SGD([weights], 0.1)
for _ in range(24):
    losses = net(torch.randn(8, 4)).square().mean(0)
    opt.zero_grad()
    (weights * losses).sum().backward()
    opt.step()
    to_weights.step()
""",
            ),
            _found(
                "weights of tasks whose gradient is scaled where it lies",
                "GS303",
                "to_weights",
                """
net, weights = nn.Linear(4, 2), nn.Parameter(torch.ones(2))
opt, to_weights = torch.optim.SGD(net.parameters(), 0.1), torch.optim.SGD([weights], 0.1)
for _ in range(24):
    losses = net(torch.randn(8, 4)).square().mean(0)
    opt.zero_grad()
    (weights * losses).sum().backward()
    weights.grad.mul_(0.5)
    opt.step()
    to_weights.step()
""",
            ),
            _found(
                "a gradient that was put there once",
                "GS303",
                "to_weights",
                """
net, weights = nn.Linear(4, 2), nn.Parameter(torch.ones(2))
opt, to_weights = torch.optim.SGD(net.parameters(), 0.1), torch.optim.SGD([weights], 0.1)
weights.grad = torch.ones(2)
for _ in range(24):
    losses = net(torch.randn(8, 4)).square().mean(0)
    opt.zero_grad()
    (weights * losses).sum().backward()
    opt.step()
    to_weights.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "weights of tasks that have a loss of their own",
                """
net, weights = nn.Linear(4, 2), nn.Parameter(torch.ones(2))
opt, to_weights = torch.optim.SGD(net.parameters(), 0.1), torch.optim.SGD([weights], 0.1)
for _ in range(24):
    losses = net(torch.randn(8, 4)).square().mean(0)
    opt.zero_grad()
    (weights * losses).sum().backward()
    (weights.grad,) = torch.autograd.grad((weights * losses.detach() - 1).square().sum(), [weights])
    opt.step()
    to_weights.step()
""",
            ),
        ),
    ),
    Rule(
        "What a loss leaves in a network through which it trains another one is not meant for that network's own step.",
        under=(
            _found(
                "an actor whose loss ends with a penalty on its actions",
                "GS303",
                "critic_opt",
                """
actor, critic = nn.Linear(3, 2), nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(12):
    state, taken, value = torch.randn(16, 3), torch.randn(16, 2), torch.randn(16, 1)
    td_loss = F.mse_loss(critic(torch.cat([state, taken], 1)), value)
    td_loss.backward()
    critic_opt.step()
    critic_opt.zero_grad()
    action = actor(state).tanh()
    actor_loss = -critic(torch.cat([state, action], 1)).mean() + 0.01 * action.square().mean()
    actor_loss.backward()
    actor_opt.step()
    actor_opt.zero_grad()
""",
            ),
            _found(
                "a generator whose loss ends with the distance to the target",
                "GS303",
                "self.opt_d",
                """
class Trainer:
    def __init__(self):
        self.gen = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 3, padding=1))
        self.judge = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(36, 1))
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=1e-3)
        self.opt_d = torch.optim.Adam(self.judge.parameters(), lr=1e-3)

    def step_g(self, x, y):
        fake = self.gen(x)
        loss = 0.1 * F.softplus(-self.judge(fake)).mean() + F.l1_loss(fake, y)
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return fake.detach()

    def step_d(self, fake, y):
        loss = F.softplus(-self.judge(y)).mean() + F.softplus(self.judge(fake)).mean()
        loss.backward()
        self.opt_d.step()
        self.opt_d.zero_grad()

trainer = Trainer()
for _ in range(12):
    x, y = torch.randn(4, 1, 8, 8), torch.randn(4, 1, 8, 8)
    trainer.step_d(trainer.step_g(x, y), y)
""",
            ),
            _found(
                "a controller that is rolled out in a learned model without biases",
                "GS303",
                'opts["model"]',
                """
class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 8, bias=False))
        self.outer = nn.utils.parametrizations.spectral_norm(nn.Linear(8, 3, bias=False))

    def forward(self, state, action):
        return state + self.outer(torch.cat([state, action], 1).matmul(self.inner.weight.T).tanh())

model, controller = Dynamics(), nn.Linear(3, 1)
opts = {
    "model": torch.optim.SGD(model.parameters(), lr=0.05),
    "controller": torch.optim.SGD(controller.parameters(), lr=0.05),
}
for _ in range(12):
    state, action = torch.randn(8, 3), torch.randn(8, 1)
    F.mse_loss(model(state, action), 0.9 * state).backward()
    opts["model"].step()
    opts["model"].zero_grad()
    cost = torch.zeros(())
    for _ in range(4):
        action = controller(state)
        state = model(state, action)
        cost = cost + state.square().mean() + 0.1 * action.square().mean()
    opts["controller"].zero_grad()
    cost.backward()
    opts["controller"].step()
""",
            ),
        ),
        beyond=(
            _clean(
                "an encoder whose code is a term of a head's loss, and that has a loss of its own",
                """
encoder, head = nn.Linear(4, 3), nn.Linear(3, 2)
encoder_opt = torch.optim.SGD(encoder.parameters(), lr=0.05)
head_opt = torch.optim.SGD(head.parameters(), lr=0.05)
for _ in range(12):
    x, y = torch.randn(8, 4), torch.randint(2, (8,))
    code = encoder(x)
    encoder_opt.zero_grad()
    head_opt.zero_grad()
    loss = F.cross_entropy(head(code), y) + 0.01 * code.square().mean()
    loss.backward()
    head_opt.step()
    apart = -torch.pdist(encoder(x + 0.1 * torch.randn(8, 4))).mean()
    apart.backward()
    encoder_opt.step()
""",
            ),
            _clean(
                "a learned model that is cleared before the pass of its own loss",
                """
model, policy = nn.Linear(4, 3), nn.Linear(3, 1)
model_opt = torch.optim.Adam(model.parameters())
policy_opt = torch.optim.Adam(policy.parameters())
for _ in range(12):
    state, action = torch.randn(8, 3), torch.randn(8, 1)
    model_opt.zero_grad()
    F.mse_loss(model(torch.cat([state, action], 1)), state).backward()
    model_opt.step()
    cost = 0.0
    for _ in range(3):
        action = policy(state)
        state = model(torch.cat([state, action], 1))
        cost = cost + state.square().mean() + 0.1 * action.square().mean()
    policy_opt.zero_grad()
    cost.backward()
    policy_opt.step()
""",
            ),
        ),
    ),
    Rule(
        "A part may be exchanged at any time: fewer parameters of an optimizer have a gradient then than ever before.",
        under=(
            _found(
                "a head that grows in the middle of a run",
                "GS306",
                "self.head",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(4, 8), nn.ReLU()), nn.Linear(8, 2)

    def widen(self):
        wider = nn.Linear(8, self.head.out_features + 1)
        with torch.no_grad():
            wider.weight[:-1], wider.bias[:-1] = self.head.weight, self.head.bias
        self.head = wider

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(80):
    if step == 50:
        net.widen()
    loss = F.cross_entropy(net.head(net.body(torch.randn(6, 4))), torch.randint(2, (6,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "layers that are initialized again after some epochs, and cleared after each step",
                "GS306",
                "net[-1]",
                """
def training(net, opt, epoch):
    if epoch == 4:
        net[-1] = nn.Linear(6, 3)
    for _ in range(12):
        loss = F.cross_entropy(net(torch.randn(8, 4)), torch.randint(3, (8,)))
        loss.backward()
        opt.step()
        opt.zero_grad()

net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
for epoch in range(7):
    training(net, opt, epoch)
""",
            ),
            _found(
                "a table of embeddings that is resized when a new user arrives",
                "GS306",
                "self.users",
                """
class Recommender:
    def __init__(self):
        self.users, self.items = nn.Embedding(4, 3), nn.Embedding(9, 3)
        self.optimizer = torch.optim.Adam([*self.users.parameters(), *self.items.parameters()], lr=0.01)

    def see(self, user):
        known = self.users.num_embeddings
        if user >= known:
            grown = nn.Embedding(user + 1, 3)
            grown.weight.data[:known] = self.users.weight.data
            self.users = grown

    def fit(self, users, items, ratings):
        loss = ((self.users(users) * self.items(items)).sum(1) - ratings).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

model = Recommender()
for step in range(70):
    if step == 40:
        model.see(6)
    model.fit(torch.randint(4, (16,)), torch.randint(9, (16,)), torch.randn(16))
""",
            ),
        ),
        beyond=(
            _clean(
                "a head that grows, and the optimizer is created again",
                """
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(80):
    if step == 50:
        net[2] = nn.Linear(6, 3)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = F.cross_entropy(net(torch.randn(6, 4)), torch.randint(2, (6,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "a head that grows, and the optimizer gets another group",
                """
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(80):
    if step == 50:
        net[2] = nn.Linear(6, 3)
        opt.add_param_group({"params": net[2].parameters()})
    loss = F.cross_entropy(net(torch.randn(6, 4)), torch.randint(2, (6,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "a copy of a network that only hands gradients on, and a branch that is no longer used",
                """
import copy

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.early, self.late = nn.Linear(4, 6), nn.Linear(6, 2), nn.Linear(6, 2)

    def forward(self, x, is_late):
        return (self.late if is_late else self.early)(self.body(x).tanh())

net, judge = Net(), None
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(80):
    if step == 50:
        judge = copy.deepcopy(net.late)
    out = net(torch.randn(6, 4), step >= 50)
    loss = out.square().mean()
    if judge is not None:
        loss = loss + judge(out.repeat(1, 3)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "A parameter is cut off by the statement through which its value comes to the loss, not by a block without a "
        "graph that edits or shows it.",
        under=(
            _found(
                "a number that a loss is created with, and a bound that is kept",
                "GS306",
                "head.scale",
                """
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.scale = nn.Linear(4, 3), nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return F.normalize(self.layer(x), dim=1)

class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, logits, y):
        return F.cross_entropy(self.scale * logits, y)

head = Head()
net = nn.ModuleDict({"body": nn.Linear(4, 4), "head": head})
criterion = Scaled(head.scale.exp().item())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    loss = criterion(net["head"](net["body"](torch.randn(8, 4))), torch.randint(3, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        net["head"].scale.clamp_(max=4)
""",
            ),
            _found(
                "a share that is read as a number in each forward, and projected after each step",
                "GS306",
                "self.alpha",
                """
class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 1), nn.Linear(4, 1)
        self.alpha = nn.Parameter(torch.tensor(0.5))

    def forward(self, x):
        alpha = self.alpha.item()
        return alpha * self.one(x) + (1 - alpha) * self.two(x)

@torch.no_grad()
def project(mixed):
    mixed.alpha.clamp_(0, 1)

model = Mixed()
opt = torch.optim.Adam(model.parameters())
for _ in range(20):
    loss = (model(torch.randn(8, 4)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    project(model)
""",
            ),
            _found(
                "a temperature that is detached in a loss, and noted before each step",
                "GS306",
                "self.tau",
                """
class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.tau = nn.Linear(4, 3), nn.Parameter(torch.zeros(1))

    def loss(self, x, y):
        similar = self.net(x) @ self.net(y).T
        return F.cross_entropy(similar / self.tau.exp().detach(), torch.arange(len(x)))

model, seen = Contrast(), []
opt = torch.optim.Adam(model.parameters())
for _ in range(20):
    x = torch.randn(6, 4)
    loss = model.loss(x, x + 0.1 * torch.randn(6, 4))
    with torch.no_grad():
        shown = model.tau.exp()
        seen.append(shown.sum().item())
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "a scale that is read with its graph, kept in bounds, and shown as a number",
                """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.scale = nn.Linear(4, 3), nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return self.scale.exp() * F.normalize(self.layer(x), dim=1)

net = Scaled()
first = net.scale.exp().item()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    loss = F.cross_entropy(net(torch.randn(8, 4)), torch.randint(3, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        net.scale.clamp_(max=4)
        shown = net.scale.exp() - first
""",
            ),
            _clean(
                "a share that only a projection sets, after each step",
                """
class Averaged(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.center = nn.Linear(4, 3), nn.Parameter(torch.zeros(3))

    def forward(self, x):
        return self.layer(x)

net = Averaged()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    out = net(torch.randn(8, 4))
    loss = (out - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        net.center.mul_(0.9).add_(0.1 * out.mean(0))
""",
            ),
        ),
    ),
    Rule(
        "A term of a loss that a function without a graph computes of what has one trains nobody.",
        under=(
            _found(
                "features of a frozen network, in a function that records nothing",
                "GS306",
                "feature_loss",
                """
net, frozen = nn.Linear(4, 4), nn.Linear(4, 3).requires_grad_(False)
opt = torch.optim.Adam(net.parameters())

@torch.no_grad()
def features(x):
    return frozen(x).relu()

def distance(output, target):
    return F.mse_loss(features(output), features(target))

for _ in range(8):
    x = torch.randn(8, 4)
    output = net(x)
    feature_loss = distance(output, x)
    loss = F.l1_loss(output, x) + 10 * feature_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a block in a module of several layers, whose distances are added up",
                "GS306",
                "style",
                """
class Style(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(2)).requires_grad_(False)

    def grams(self, x):
        found = []
        with torch.no_grad():
            for layer in self.layers:
                x = layer(x).tanh()
                found.append(x.T @ x)
        return found

    def forward(self, one, other):
        return sum((a - b).square().mean() for a, b in zip(self.grams(one), self.grams(other)))

class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x) + x

painter, judge = Painter(), Style()
opt = torch.optim.SGD(painter.parameters(), lr=0.01)
for _ in range(8):
    content, wanted = torch.randn(6, 4), torch.randn(6, 4)
    painted = painter(content)
    loss = (painted - content).square().mean()
    style = judge(painted, wanted)
    loss += 0.5 * style
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "edges of what a network gave, in a dict of terms",
                "GS306",
                "terms",
                """
class Task:
    def __init__(self):
        self.net = nn.Sequential(nn.Conv1d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv1d(4, 1, 3, padding=1))
        self.opt = torch.optim.Adam(self.net.parameters())

    @torch.no_grad()
    def edges(self, signal):
        return signal[..., 1:] - signal[..., :-1]

    def losses(self, x, y):
        out = self.net(x)
        return {"fit": F.mse_loss(out, y), "edges": (self.edges(out) - self.edges(y)).abs().mean()}

    def step(self, x, y):
        terms = self.losses(x, y)
        loss = terms["fit"] + terms["edges"]
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

task = Task()
for _ in range(8):
    task.step(torch.randn(2, 1, 9), torch.randn(2, 1, 9))
""",
            ),
        ),
        beyond=(
            _clean(
                "constants that are meant: of a frozen net, of data, and an entropy that is detached",
                """
net, frozen = nn.Linear(4, 3), nn.Linear(4, 3).requires_grad_(False)
opt = torch.optim.Adam(net.parameters())

@torch.no_grad()
def size(module):
    return sum(each.square().sum() for each in module.parameters())

@torch.no_grad()
def hardness(x):
    return frozen(x).softmax(1).square().mean()

for _ in range(8):
    x, y = torch.randn(8, 4), torch.randint(3, (8,))
    out = net(x)
    entropy = -(out.softmax(1) * out.log_softmax(1)).sum(1).mean()
    loss = F.cross_entropy(out, y) + 0.1 * size(frozen) + hardness(x) - 0.01 * entropy.detach()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "the target of a teacher, and a weight that is measured at the output",
                """
net, teacher = nn.Linear(4, 3), nn.Linear(4, 3).requires_grad_(False)
opt = torch.optim.Adam(net.parameters())

@torch.no_grad()
def taught(x):
    return teacher(x)

@torch.no_grad()
def confidence(out):
    return out.softmax(1).amax(1).mean()

for _ in range(8):
    x, y = torch.randn(8, 4), torch.randint(3, (8,))
    out = net(x)
    distance = F.mse_loss(out, taught(x))
    loss = F.cross_entropy(out, y) + confidence(out) * distance
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "a running mean of the loss itself, which is taken away from it",
                """
class Mean:
    def __init__(self):
        self.value = torch.zeros(())

    @torch.no_grad()
    def of(self, number):
        self.value = 0.9 * self.value + 0.1 * number
        return self.value

net, mean = nn.Linear(4, 1), Mean()
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    cost = net(torch.randn(8, 4)).square().mean()
    loss = cost - mean.of(cost)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "a correction under a block that the summing function has itself",
                """
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
for _ in range(8):
    out = net(torch.randn(8, 4))
    with torch.no_grad():
        true = out.sign().mean()
    loss = out.square().mean() + true
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "A list of losses that no pass comes back to keeps their graphs; one that a later pass walks was needed.",
        under=(
            _found(
                "the losses of updates by hand",
                "GS301",
                "losses",
                """
w, losses = torch.ones(4, requires_grad=True), []
for step in range(50):
    loss = (w * torch.randn(8, 4)).square().mean()
    (grad,) = torch.autograd.grad(loss, [w])
    losses.append(loss)
    w = (w - 0.1 * grad).detach().requires_grad_()
""",
            ),
            _found(
                "on features that all passes share",
                "GS301",
                "losses",
                """
base, head, losses = nn.Linear(4, 4), nn.Linear(4, 1), []
features = base(torch.randn(8, 4)).tanh()
for step in range(50):
    loss = head(features).square().mean()
    loss.backward(retain_graph=True)
    losses.append(loss)
    with torch.no_grad():
        for p in head.parameters():
            p -= 0.1 * p.grad
            p.grad = None
""",
            ),
            _found(
                "outputs beside the losses",
                "GS301",
                "outputs",
                """
net, outputs = nn.Linear(4, 4), []
for step in range(50):
    out = net(torch.randn(8, 4))
    out.square().mean().backward()
    outputs.append(out)
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.1 * p.grad
            p.grad = None
""",
            ),
        ),
        beyond=(
            _clean(
                "an inner loop that is trained through, once",
                """
net, losses = nn.Linear(4, 4), []
weights = list(net.parameters())
for step in range(50):
    loss = F.linear(torch.randn(2, 4), *weights).square().mean()
    grads = torch.autograd.grad(loss, weights, create_graph=True)
    losses.append(loss)
    weights = [w - 0.1 * g for w, g in zip(weights, grads)]
F.linear(torch.randn(2, 4), *weights).square().mean().backward()
""",
            ),
            _clean(
                "all losses of a sequence, in one pass at its end",
                """
cell, losses, h = nn.GRUCell(4, 4), [], torch.zeros(2, 4)
warm = nn.Linear(4, 4)
for step in range(50):
    warm(torch.randn(2, 4)).square().mean().backward()
    h = cell(torch.randn(2, 4), h)
    losses.append(h.square().mean())
torch.stack(losses).mean().backward()
""",
            ),
        ),
    ),
    Rule(
        "A module that an optimizer trains was to have a parameter where it has a tensor that was computed from one, "
        "or that is none.",
        under=(
            _found(
                "a view of a parameter",
                "GS306",
                "rate",
                """
class Decay(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rate = nn.Parameter(torch.zeros(1, width)).squeeze(0)

    def forward(self, x):
        return x * torch.sigmoid(self.rate)

net = nn.Sequential(nn.Linear(4, 6), Decay(6), nn.Linear(6, 1))
opt = torch.optim.Adam(net.parameters())
for _ in range(12):
    loss = (net(torch.randn(5, 4)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a table that is turned when it is created",
                "GS306",
                "places",
                """
class Tagger(nn.Module):
    def __init__(self, words, length):
        super().__init__()
        self.words = nn.Embedding(words, 8)
        self.places = nn.Parameter(torch.randn(8, length)).t()
        self.out = nn.Linear(8, 3)

    def forward(self, sentence):
        return self.out(self.words(sentence) + self.places[: sentence.shape[1]])

def train(tagger, optimizer):
    for _ in range(12):
        sentence, tags = torch.randint(20, (4, 6)), torch.randint(3, (4, 6))
        loss = F.cross_entropy(tagger(sentence).flatten(0, 1), tags.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

tagger = Tagger(20, 10)
train(tagger, torch.optim.AdamW(tagger.parameters(), lr=1e-2))
""",
            ),
            _found(
                "a tensor that requires a gradient",
                "GS306",
                "query",
                """
class Pooling(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = torch.zeros(width, requires_grad=True)
        self.key = nn.Linear(width, width)

    def forward(self, items):
        weights = torch.softmax(self.key(items) @ self.query, dim=1)
        return (weights[..., None] * items).sum(1)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool, self.out = Pooling(6), nn.Linear(6, 2)

    def forward(self, items):
        return self.out(self.pool(items))

model = Model()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(12):
    opt.zero_grad()
    loss = F.cross_entropy(model(torch.randn(5, 7, 6)), torch.randint(2, (5,)))
    loss.backward()
    opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "a parameter that is put where it is already",
                """
class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.lin = nn.Linear(4, 1)
        self.scale = nn.Parameter(torch.ones(4)).to(device)

    def forward(self, x):
        return self.lin(x * self.scale)

net = Net(torch.device("cpu"))
opt = torch.optim.Adam(net.parameters())
for _ in range(12):
    loss = net(torch.randn(5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "what a module computes of its own parameters and keeps",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Parameter(torch.ones(4))
        self.scale = self.base.detach()

    def forward(self, x):
        self.scale = F.softplus(self.base)
        return (x * self.scale).sum(1)

net = Net()
opt = torch.optim.Adam(net.parameters())
for _ in range(12):
    loss = net(torch.randn(5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "a tensor that the optimizer was given by itself",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fit, self.shift = nn.Linear(4, 1), torch.zeros(4, requires_grad=True)

    def forward(self, x):
        return self.fit(x + self.shift)

net = Net()
opt = torch.optim.Adam([*net.parameters(), net.shift])
for _ in range(12):
    loss = net(torch.randn(5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "a disturbance that is moved by hand",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fit, self.delta = nn.Linear(4, 1), torch.zeros(4, requires_grad=True)

    def forward(self, x):
        return self.fit(x + self.delta)

net = Net()
opt = torch.optim.Adam(net.parameters())
for _ in range(12):
    loss = net(torch.randn(5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        net.delta += 0.1 * net.delta.grad.sign()
        net.delta.grad = None
""",
            ),
            _clean(
                "gates whose gradients say what may be pruned",
                """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.out = nn.Linear(4, 6), nn.Linear(6, 1)
        self.gates = torch.ones(6, requires_grad=True)

    def forward(self, x):
        return self.out(self.body(x).relu() * self.gates)

net, importance = Net(), torch.zeros(6)
opt = torch.optim.Adam(net.parameters())
for _ in range(12):
    loss = net(torch.randn(5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    importance += net.gates.grad.abs()
print(importance.argmin().item())
""",
            ),
            _clean(
                "a part that is left as it is, with a prompt of its own",
                """
class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.fit = nn.Linear(4, 4)
        self.prompt = nn.Parameter(torch.randn(1, 4)).squeeze(0)

    def forward(self, x):
        return self.fit(x + self.prompt)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = Frozen(), nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.body(x))

net = Net()
opt = torch.optim.Adam(net.head.parameters())
for _ in range(12):
    loss = net(torch.randn(5, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "A pass that comes to nothing but a number which was made to require a gradient trains nobody.",
        under=(
            _found(
                "a loss of decisions that is told to require a gradient",
                "GS306",
                "pred",
                """
net = nn.Linear(4, 2)
opt = torch.optim.Adam(net.parameters())
for _ in range(12):
    x, y = torch.randn(10, 4), torch.randint(0, 2, (10,))
    pred = net(x).argmax(1)
    loss = (pred != y).float().mean()
    loss.requires_grad = True
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _found(
                "a loss that is made of numbers",
                "GS306",
                "total",
                """
net = nn.Linear(4, 2)
opt = torch.optim.Adam(net.parameters())
def step(x, y):
    total = 0.0
    for a, b in zip(x, y):
        total += (net(a) - b).square().sum().item()
    loss = torch.tensor(total, requires_grad=True)
    opt.zero_grad()
    loss.backward()
    opt.step()
for _ in range(12):
    step(torch.randn(3, 4), torch.randn(3, 2))
""",
            ),
            _found(
                "a loss that a method gives back as a leaf",
                "GS306",
                None,
                """
class Trainer:
    def __init__(self):
        self.net = nn.Linear(4, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def loss(self, x):
        value = self.net(x).square().mean()
        return value.detach().requires_grad_()
    def fit(self):
        for _ in range(12):
            self.opt.zero_grad()
            self.loss(torch.randn(5, 4)).backward()
            self.opt.step()
Trainer().fit()
""",
            ),
        ),
        beyond=(
            _clean(
                "a zero for batches that have nothing to learn from",
                """
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(40):
    x = torch.randn(6, 4)
    chosen = x[x[:, 0] > 3.0] if step % 2 == 0 else x
    loss = net(chosen).square().mean() if len(chosen) else torch.tensor(0.0, requires_grad=True)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
            ),
            _clean(
                "a number that is trained by its own pass",
                """
level = nn.Parameter(torch.tensor(3.0))
opt = torch.optim.SGD([level], lr=0.1)
for _ in range(12):
    opt.zero_grad()
    level.backward()
    opt.step()
""",
            ),
            _clean(
                "representations whose gradient is handed on",
                """
net, head = nn.Linear(4, 3), nn.Linear(3, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(12):
    x = torch.randn(6, 4)
    out = net(x)
    kept = out.detach().requires_grad_()
    opt.zero_grad()
    head(kept).square().mean().backward()
    out.backward(gradient=kept.grad)
    opt.step()
""",
            ),
        ),
    ),
    Rule(
        "Each thread counts its ops by itself: the age of a graph is that of what holds it, not of others' ops.",
        under=(
            _found(
                "a list of penalties that another thread computes",
                "GS301",
                "history",
                """
from concurrent.futures import ThreadPoolExecutor
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
def roughness(y):
    return y.diff(dim=0).square().mean()
history = []
with ThreadPoolExecutor(1) as pool:
    for _ in range(12):
        x = torch.randn(16, 4)
        opt.zero_grad()
        error = (net(x) - 1).square().mean() + (net(-x) + 1).square().mean()
        for _ in range(34):
            error = error * 1.01
        error.backward()
        penalty = 0.1 * pool.submit(roughness, net(x)).result()
        penalty.backward()
        opt.step()
        history.append(penalty)
""",
            ),
            _found(
                "the same, under a key",
                "GS301",
                'history["penalty"]',
                """
from concurrent.futures import ThreadPoolExecutor
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
def roughness(y):
    return y.diff(dim=0).square().mean()
history = {"penalty": []}
with ThreadPoolExecutor(1) as pool:
    for _ in range(12):
        x = torch.randn(16, 4)
        opt.zero_grad()
        error = (net(x) - 1).square().mean() + (net(-x) + 1).square().mean()
        for _ in range(34):
            error = error * 1.01
        error.backward()
        penalty = 0.1 * pool.submit(roughness, net(x)).result()
        penalty.backward()
        opt.step()
        history["penalty"].append(penalty)
""",
            ),
            _found(
                "the same, of an object",
                "GS301",
                "log.penalties",
                """
from concurrent.futures import ThreadPoolExecutor
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
def roughness(y):
    return y.diff(dim=0).square().mean()
class Log:
    penalties = []
log = Log()
with ThreadPoolExecutor(1) as pool:
    for _ in range(12):
        x = torch.randn(16, 4)
        opt.zero_grad()
        error = (net(x) - 1).square().mean() + (net(-x) + 1).square().mean()
        for _ in range(34):
            error = error * 1.01
        error.backward()
        penalty = 0.1 * pool.submit(roughness, net(x)).result()
        penalty.backward()
        opt.step()
        log.penalties.append(penalty)
""",
            ),
        ),
        beyond=(
            _clean(
                "a penalty that lives until the next one",
                """
from concurrent.futures import ThreadPoolExecutor
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
def roughness(y):
    return y.diff(dim=0).square().mean()
with ThreadPoolExecutor(1) as pool:
    for _ in range(12):
        x = torch.randn(16, 4)
        opt.zero_grad()
        error = (net(x) - 1).square().mean() + (net(-x) + 1).square().mean()
        for _ in range(34):
            error = error * 1.01
        error.backward()
        penalty = 0.1 * pool.submit(roughness, net(x)).result()
        penalty.backward()
        opt.step()
""",
            ),
        ),
    ),
    Rule(
        "A module that does not run in every step is listened to until it does.",
        under=(
            _found(
                "embeddings of an epoch",
                "GS306",
                None,
                """
encoder, head = nn.Linear(4, 6), nn.Linear(6, 1)
opt = torch.optim.Adam([*encoder.parameters(), *head.parameters()], 0.01)
nodes = torch.randn(48, 4)
def embed():
    with torch.no_grad():
        return encoder(nodes).tanh()
for epoch in range(8):
    z = embed()
    for rows in torch.arange(48).split(16):
        opt.zero_grad()
        (head(z[rows]).squeeze() - nodes[rows].sum(1)).square().mean().backward()
        opt.step()
""",
            ),
            _found(
                "features of a memory that is filled every few steps",
                "GS306",
                None,
                """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 6), nn.Linear(6, 1)
    @torch.no_grad()
    def features(self, x):
        return self.body(x).relu()
model = Model()
opt = torch.optim.SGD(model.parameters(), 0.01)
for step in range(40):
    if step % 5 == 0:
        x = torch.randn(12, 4)
        seen = model.features(x)
    opt.zero_grad()
    (model.head(seen).squeeze() - x.sum(1)).square().mean().backward()
    opt.step()
""",
            ),
            _found(
                "a context that is encoded once a document",
                "GS306",
                None,
                """
context, reader = nn.Sequential(nn.Linear(3, 5), nn.Tanh()), nn.Linear(8, 1)
opt = torch.optim.Adam([{"params": context.parameters()}, {"params": reader.parameters()}], 0.01)
def read(document):
    with torch.inference_mode():
        return context(document).mean(0)
for _ in range(9):
    document = torch.randn(20, 3)
    about = read(document).clone()
    for part in document.split(5):
        opt.zero_grad()
        given = torch.cat([about.expand(len(part), -1), part], 1)
        (reader(given).squeeze() - part.sum(1)).square().mean().backward()
        opt.step()
""",
            ),
        ),
        beyond=(
            _clean(
                "a head that is only looked at between the epochs",
                """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.probe = nn.Linear(4, 6), nn.Linear(6, 1), nn.Linear(6, 2)
    def forward(self, x):
        return self.head(self.body(x).tanh())
model = Model()
opt = torch.optim.Adam(model.parameters(), 0.01)
def evaluate():
    with torch.no_grad():
        return model.probe(model.body(torch.ones(3, 4)).tanh()).argmax(1).float().mean().item()
for epoch in range(10):
    for _ in range(3):
        opt.zero_grad()
        (model(torch.randn(8, 4)) - 1).square().mean().backward()
        opt.step()
    evaluate()
""",
            ),
            _clean(
                "a decoder of what is shown once an epoch",
                """
encoder, decoder, head = nn.Linear(4, 6), nn.Linear(6, 4), nn.Linear(6, 1)
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), *head.parameters()], 0.01)
data = torch.randn(48, 4)
for epoch in range(10):
    with torch.no_grad():
        z = encoder(data)
    shown = decoder(z).square().mean().item()
    for part in data.split(16):
        opt.zero_grad()
        (head(encoder(part)).squeeze() - part.sum(1)).square().mean().backward()
        opt.step()
""",
            ),
        ),
    ),
)
