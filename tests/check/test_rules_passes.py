"""Passes and steps: what a pass frees, what it leaves alone, and what optimizers change."""

import pytest

from check.rules import Rule, check, codes
from gradsan.check.reading import check_content

RULES = [
    Rule(
        "what is drawn without a graph, and gone through by a term, is no way for that term to train its distribution",
        "GS306",
        found=(
            """
            from torch.distributions import Normal, kl_divergence
            mean, spread, decoder = nn.Linear(4, 2), nn.Linear(4, 2), nn.Linear(2, 4)
            opt = torch.optim.Adam([*mean.parameters(), *spread.parameters(), *decoder.parameters()])
            for batch in loader:
                posterior = Normal(mean(batch), spread(batch).exp())
                z = posterior.sample()
                kl = kl_divergence(posterior, Normal(torch.zeros(2), torch.ones(2))).mean()
                loss = F.mse_loss(decoder(z), batch) + 0.1 * kl
                opt.zero_grad()
                loss.backward()
                opt.step()
            """,
            """
            import torch.distributions as D
            class Policy(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.net = nn.Linear(4, 2)
                def forward(self, state):
                    return D.Normal(self.net(state), 1.0)
            policy, dynamics = Policy(), nn.Linear(6, 1)
            opt = torch.optim.Adam(policy.parameters())
            for state in loader:
                actions = policy(state)
                cost = dynamics(torch.cat([state, actions.sample()], 1)).pow(2).mean()
                loss = cost - 0.01 * actions.entropy().mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
            """,
            """
            from torch.distributions import Gamma, kl_divergence
            rate, head = nn.Linear(4, 3), nn.Linear(3, 1)
            opt = torch.optim.Adam([*rate.parameters(), *head.parameters()])
            for batch in loader:
                gates = Gamma(F.softplus(rate(batch)), torch.ones(3))
                error = head(gates.sample()).pow(2).mean()
                prior = kl_divergence(gates, Gamma(torch.ones(3), torch.ones(3))).sum()
                opt.zero_grad()
                (error + prior).backward()
                opt.step()
            """,
        ),
        near_miss="""
        from torch.distributions import Normal
        policy, critic = nn.Linear(4, 2), nn.Linear(6, 1)
        opt = torch.optim.Adam([*policy.parameters(), *critic.parameters()])
        for state, reward in loader:
            actions = Normal(policy(state), 1.0)
            action = actions.sample()
            value = critic(torch.cat([state, action], 1)).squeeze(1)
            gain = (reward - value.detach()) * actions.log_prob(action).sum(1)
            loss = F.mse_loss(value, reward) - gain.mean() - 0.01 * actions.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    ),
    Rule(
        "a term that was cut off trains nothing, where what it reaches is cleared before a step takes it",
        "GS306",
        found=(
            """
            critic = nn.Linear(4, 1)
            critic_opt = torch.optim.Adam(critic.parameters())
            for _ in range(9):
                fake = model(x)
                score = critic(fake.detach())
                loss = F.mse_loss(score, torch.ones_like(score)) + F.l1_loss(fake, x)
                opt.zero_grad()
                loss.backward()
                opt.step()
                critic_loss = critic(fake.detach()).mean() - critic(x).mean()
                critic_opt.zero_grad()
                critic_loss.backward()
                critic_opt.step()
            """,
            """
            class Trainer:
                def __init__(self):
                    self.encoder, self.domain = nn.Linear(4, 3), nn.Linear(3, 2)
                    self.opt = torch.optim.SGD(self.encoder.parameters(), 0.1)
                    self.domain_opt = torch.optim.SGD(self.domain.parameters(), 0.1)
                def step(self, batch, where):
                    code = self.encoder(batch).detach()
                    self.domain_opt.zero_grad()
                    F.cross_entropy(self.domain(code), where).backward()
                    self.domain_opt.step()
                    code = self.encoder(batch)
                    confusion = -F.cross_entropy(self.domain(code.detach()), where)
                    self.opt.zero_grad()
                    (code.pow(2).mean() + 0.1 * confusion).backward()
                    self.opt.step()
            trainer = Trainer()
            for batch, where in loader:
                trainer.step(batch, where)
            """,
            """
            judge = nn.Linear(4, 1)
            judge_opt = torch.optim.Adam(judge.parameters())
            for batch in loader:
                made = model(batch)
                with torch.no_grad():
                    copy = made * 1.0
                liked = judge(copy).mean()
                opt.zero_grad()
                (F.mse_loss(made, batch) - liked).backward()
                opt.step()
                judge_opt.zero_grad()
                judge(batch).mean().backward()
                judge_opt.step()
            """,
        ),
        near_miss="""
        probe = nn.Linear(4, 1)
        probe_opt = torch.optim.Adam(probe.parameters())
        for _ in range(9):
            code = model(x)
            loss = F.mse_loss(code, x) + probe(code.detach()).pow(2).mean()
            opt.zero_grad()
            probe_opt.zero_grad()
            loss.backward()
            opt.step()
            probe_opt.step()
        """,
    ),
    Rule(
        "a step that finds nothing, because what a pass gave was cleared, was to use that pass",
        "GS307",
        found=(
            """
            for batch in x:
                loss = model(batch).mean()
                loss.backward()
                opt.zero_grad()
                opt.step()
            """,
            """
            def train(batch):
                opt.zero_grad()
                opt.step()
                loss = model(batch).mean()
                loss.backward()
            for batch in x:
                train(batch)
            """,
            """
            class Learner:
                def __init__(self):
                    self.opt = torch.optim.Adam(model.parameters())
                def update(self, loss):
                    loss.backward()
                    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    self.opt.zero_grad()
                    self.opt.step()
            learner = Learner()
            for batch in x:
                learner.update(model(batch).mean())
            """,
        ),
        near_miss="""
        other = nn.Linear(4, 4)
        opt_other = torch.optim.SGD(other.parameters(), lr=0.1)
        for batch in x:
            other(model(batch)).mean().backward()
            opt_other.zero_grad()
            opt.step()
            opt.zero_grad()
            other(model(batch).detach()).mean().backward()
            opt_other.step()
            other(batch).mean().backward()
            seen = [p.grad.norm() for p in other.parameters()]
            opt_other.zero_grad()
            opt_other.step()
        """,
    ),
    Rule(
        "a sum is left out whose part alone is trained on",
        "GS304",
        found=(
            """
            for step in range(9):
                task, penalty = model(x).pow(2).mean(), model(x).abs().mean()
                loss = task + 0.1 * penalty
                opt.zero_grad()
                task.backward()
                opt.step()
                print(loss.item())
            """,
            """
            def balance(out):
                return out.var() / out.mean().square()
            def train(loader):
                for batch in loader:
                    out = model(batch)
                    fit = F.mse_loss(out, batch)
                    total = fit + balance(out).sum()
                    opt.zero_grad()
                    fit.backward()
                    opt.step()
            train(torch.randn(3, 8, 4))
            """,
            """
            for epoch in range(9):
                for batch in loader:
                    opt.zero_grad()
                    mse = F.mse_loss(model(x), x)
                    l1 = sum(p.abs().sum() for p in model.parameters())
                    loss = mse + 1e-4 * l1
                    mse.backward()
                    opt.step()
            """,
        ),
        near_miss="""
        for step in range(9):
            task, penalty = model(x).pow(2).mean(), model(x).abs().mean()
            loss = (task + penalty) / 2
            balance = 0.5 + 0.1 * torch.mean(0.3 * task - penalty)
            opt.zero_grad()
            task.backward()
            penalty.backward()
            opt.step()
            print(loss.item(), balance.item())
        """,
    ),
    Rule(
        "numbers that were cut off stay so through Python's own functions",
        "GS306",
        found=(
            """
            scale = nn.Parameter(torch.ones(()))
            opt = torch.optim.SGD([*model.parameters(), scale], lr=0.1)
            for step in range(9):
                opt.zero_grad()
                (min(scale.exp().item(), 100.0) * model(x)).mean().backward()
                opt.step()
            """,
            """
            scale = nn.Parameter(torch.ones(()))
            opt = torch.optim.SGD([*model.parameters(), scale], lr=0.1)
            for step in range(9):
                opt.zero_grad()
                (abs(scale.item()) * model(x)).mean().backward()
                opt.step()
            """,
            """
            scale = nn.Parameter(torch.ones(()))
            opt = torch.optim.SGD([*model.parameters(), scale], lr=0.1)
            for step in range(9):
                opt.zero_grad()
                (max(0.01, float(scale)) * model(x)).mean().backward()
                opt.step()
            """,
        ),
        near_miss="""
        scale = nn.Parameter(torch.ones(()))
        opt = torch.optim.SGD([*model.parameters(), scale], lr=0.1)
        for step in range(9):
            opt.zero_grad()
            (abs(scale) * model(x)).mean().backward()
            opt.step()
            print(min(scale.item(), 1.0))
        """,
    ),
    Rule(
        "what is made of gradients alone has no graph unless one was asked for",
        "GS203",
        found=(
            """
            def slope(points):
                points = points.clone().requires_grad_(True)
                return torch.autograd.grad(model(points).sum(), points)[0]
            for step in range(9):
                loss = (slope(x) - torch.ones(8, 4)).square().mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
            """,
            """
            (pull,) = torch.autograd.grad(model(x).sum(), model.weight)
            pull.norm().backward()
            """,
            """
            leaf = torch.randn(4, requires_grad=True)
            first, = torch.autograd.grad((leaf ** 3).sum(), leaf)
            second, = torch.autograd.grad(first.sum(), leaf)
            """,
        ),
        near_miss="""
        def aligned(direction, values):
            values = values.clone().requires_grad_(True)
            (pull,) = torch.autograd.grad(model(values).sum(), values)
            (pull * torch.tanh(direction)).sum().backward()
        """,
    ),
    Rule(
        "networks that meet in the loss alone and step apart teach each other",
        "GS106",
        found=(
            """
            peer = nn.Linear(4, 4)
            other = torch.optim.SGD(peer.parameters(), lr=0.1)
            for step in range(9):
                mine, theirs = model(x), peer(x)
                loss = mine.square().mean() + F.mse_loss(mine, theirs)
                back = theirs.square().mean() + F.mse_loss(theirs, mine)
                opt.zero_grad()
                loss.backward()
                opt.step()
                other.zero_grad()
                back.backward()
                other.step()
            """,
            """
            def mimic(own, given):
                return F.kl_div(F.log_softmax(own, dim=1), F.softmax(given, dim=1))
            def build():
                return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))
            left, right = build(), build()
            opt_left = torch.optim.Adam(left.parameters())
            opt_right = torch.optim.Adam(right.parameters())
            for step in range(9):
                a, b = left(x), right(x)
                loss_a, loss_b = a.mean() + mimic(a, b), b.mean() + mimic(b, a)
                loss_a.backward()
                opt_left.step()
                loss_b.backward()
                opt_right.step()
                opt_left.zero_grad()
                opt_right.zero_grad()
            """,
            """
            class Pair:
                def __init__(self):
                    self.net, self.peer = nn.Linear(4, 3), nn.Linear(4, 3)
                    self.first = torch.optim.SGD(self.net.parameters(), lr=0.1)
                    self.second = torch.optim.SGD(self.peer.parameters(), lr=0.1)
                def step(self, x):
                    one, two = self.net(x).tanh(), self.peer(x).tanh()
                    losses = [(one - two).square().mean() + one.mean(), (two - one).square().mean() + two.mean()]
                    self.first.zero_grad()
                    self.second.zero_grad()
                    losses[0].backward()
                    self.first.step()
                    losses[1].backward()
                    self.second.step()
            pair = Pair()
            for step in range(9):
                pair.step(x)
            """,
        ),
        near_miss="""
        peer = nn.Linear(4, 4)
        other = torch.optim.SGD(peer.parameters(), lr=0.1)
        for step in range(9):
            mine, theirs = model(x), peer(x)
            loss = mine.square().mean() + F.mse_loss(mine, theirs.detach())
            back = theirs.square().mean() + F.mse_loss(theirs, mine.detach())
            opt.zero_grad()
            other.zero_grad()
            loss.backward()
            opt.step()
            back.backward()
            other.step()
        """,
    ),
    Rule(
        "what is made of frozen parameters alone has no graph",
        "GS203",
        found=(
            """
            for p in model.parameters():
                p.requires_grad = False
            model(x).mean().backward()
            """,
            """
            model.requires_grad_(False)
            loss = F.mse_loss(model(x), x)
            loss.backward()
            """,
            """
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 2)
                def forward(self, x):
                    return self.head(self.body(x))
            net = Net()
            net.head = nn.Linear(4, 3)
            for name, p in net.named_parameters():
                p.requires_grad = False
            opt = torch.optim.SGD(net.head.parameters(), lr=0.1)
            for step in range(9):
                opt.zero_grad()
                net(x).mean().backward()
                opt.step()
            """,
        ),
        near_miss="""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 2)
            def forward(self, x):
                return self.head(self.body(x))
        net = Net()
        for p in net.parameters():
            p.requires_grad = False
        net.head = nn.Linear(4, 3)
        opt = torch.optim.SGD(net.head.parameters(), lr=0.1)
        for step in range(9):
            opt.zero_grad()
            net(x).mean().backward()
            opt.step()
        """,
    ),
    Rule(
        "a layer is frozen when its weight and its bias are",
        "GS203",
        found=(
            """
            model.weight.requires_grad = False
            model.bias.requires_grad = False
            model(x).mean().backward()
            """,
            """
            table = nn.Embedding(4, 4)
            table.weight.requires_grad = False
            table(torch.arange(4)).mean().backward()
            """,
            """
            layer = nn.Linear(4, 4, bias=False)
            layer.weight.requires_grad_(False)
            layer(x).mean().backward()
            """,
        ),
        near_miss="""
        model.bias.requires_grad = False
        model(x).mean().backward()
        """,
    ),
    Rule(
        "a pass frees what it walks unless it retains it",
        "GS102",
        found=(
            """
            h = model(x).exp()
            h.sum().backward()
            h.mean().backward()
            """,
            """
            h = model(x).exp()
            h.sum().backward(retain_graph=False)
            h.mean().backward()
            """,
            """
            h = model(x).exp()
            torch.autograd.backward(h.sum())
            h.mean().backward()
            """,
        ),
        near_miss="""
        h = model(x).exp()
        h.sum().backward(retain_graph=True)
        h.mean().backward()
        """,
    ),
    Rule(
        "autograd.grad frees what it walks too",
        "GS107",
        found=(
            """
            h = model(x).exp()
            torch.autograd.grad(h.sum(), model.weight)
            h.mean().backward()
            """,
            """
            h = model(x).exp()
            torch.autograd.grad(h.sum(), [model.weight, model.bias])
            h.mean().backward()
            """,
            """
            from torch.autograd import grad
            h = model(x).exp()
            grad(h.sum(), model.bias)
            h.mean().backward()
            """,
        ),
        near_miss="""
        h = model(x).exp()
        torch.autograd.grad(h.sum(), model.weight, create_graph=True)
        h.mean().backward()
        """,
    ),
    Rule(
        "a pass with inputs runs only what leads to them",
        "GS102",
        found=(
            """
            h = model(x).exp()
            h.sum().backward(inputs=[model.weight])
            h.mean().backward()
            """,
            """
            h = model(x).exp()
            h.sum().backward(inputs=list(model.parameters()))
            h.mean().backward()
            """,
            """
            h = model(x).exp()
            (h * h).sum().backward(inputs=[h])
            h.mean().backward()
            """,
        ),
        near_miss="""
        a, b = model(x).exp(), model(x).exp()
        w = torch.ones(4, requires_grad=True)
        ((a * b).sum() * w).sum().backward(inputs=[w])
        a.mean().backward()
        """,
    ),
    Rule(
        "a step changes what an earlier forward saved",
        "GS201",
        found=(
            """
            h = model(x)
            loss = model(h).mean()
            h.sum().backward(retain_graph=True)
            opt.step()
            loss.backward()
            """,
            """
            h = model(x.requires_grad_())
            loss = (h @ model.weight).mean()
            h.sum().backward(retain_graph=True)
            opt.step()
            loss.backward()
            """,
        ),
        near_miss="""
        h = model(x)
        loss = model(h).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        """,
    ),
    Rule(
        "gradients that nobody clears pile up",
        "GS303",
        found=(
            """
            for _ in range(9):
                model(x).mean().backward()
                opt.step()
            """,
            """
            adam = torch.optim.Adam(model.parameters())
            for batch in torch.randn(9, 8, 4):
                F.mse_loss(model(batch), batch).backward()
                adam.step()
            """,
        ),
        near_miss="""
        for _ in range(9):
            for p in model.parameters():
                p.grad = None
            model(x).mean().backward()
            opt.step()
        """,
    ),
    Rule(
        "a retained graph that no later pass walks is kept for nothing",
        "GS302",
        found=(
            """
            for _ in range(9):
                opt.zero_grad()
                model(x).mean().backward(retain_graph=True)
                opt.step()
            """,
            """
            loss = model(x).mean()
            loss.backward(retain_graph=True)
            opt.step()
            """,
        ),
        near_miss="""
        for _ in range(9):
            opt.zero_grad()
            h = model(x)
            h.mean().backward(retain_graph=True)
            h.sum().backward()
            opt.step()
        """,
    ),
    Rule(
        "gradients that are cleared before any step came too late",
        "GS307",
        found=(
            """
            other = nn.Linear(4, 1)
            opt_other = torch.optim.SGD(other.parameters(), lr=0.1)
            for _ in range(9):
                opt.zero_grad()
                opt_other.zero_grad()
                model(x).square().mean().backward()
                opt.step()
                model(x).abs().mean().backward()
                other(x).mean().backward()
                opt_other.step()
            """,
        ),
        near_miss="""
        from lib import start
        attack = start(x)
        ascent = torch.optim.SGD([attack], lr=0.1)
        for _ in range(9):
            opt.zero_grad()
            model(x).square().mean().backward()
            opt.step()
            ascent.zero_grad()
            model(attack).abs().mean().backward()
            ascent.step()
        """,
    ),
    Rule(
        "a term that was cut off trains nothing, though others train what it is made of",
        "GS306",
        found=(
            """
            for _ in range(9):
                y = model(x)
                penalty = y.abs().mean().detach()
                loss = y.square().mean() + 0.1 * penalty
                opt.zero_grad()
                loss.backward()
                opt.step()
            """,
            """
            for _ in range(9):
                y = model(x)
                penalty = y.abs().mean()
                penalty = penalty.item()
                loss = y.square().mean()
                loss += penalty
                opt.zero_grad()
                loss.backward()
                opt.step()
            """,
            """
            for _ in range(9):
                y = model(x)
                with torch.no_grad():
                    penalty = model.weight.square().sum()
                loss = y.square().mean() + penalty
                opt.zero_grad()
                loss.backward()
                opt.step()
            """,
        ),
        near_miss="""
        baseline = 0.0
        for _ in range(9):
            y = model(x)
            penalty = y.abs().mean()
            loss = y.square().mean() + penalty - penalty.detach() - baseline
            opt.zero_grad()
            loss.backward()
            opt.step()
            baseline = 0.9 * baseline + 0.1 * loss.item()
        """,
    ),
    Rule(
        "a retained graph is needed by gradients that are asked for, whatever leads to their inputs",
        "GS302",
        found=(
            """
            for _ in range(9):
                opt.zero_grad()
                loss = model(x).square().mean()
                loss.backward(retain_graph=True)
                opt.step()
            """,
        ),
        near_miss="""
        from lib import mixed
        weight = nn.Parameter(torch.randn(4))
        for _ in range(9):
            opt.zero_grad()
            loss = model(mixed(x)).square().mean()
            loss.backward(retain_graph=True)
            torch.autograd.grad(loss, weight)
            opt.step()
        """,
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rule_of_passes(rule: Rule) -> None:
    """Each rule finds its programs, and lets the one go that only looks like them."""
    check(rule)


def test_grad_leaves_the_op_of_its_input_alone() -> None:
    """`autograd.grad(y, h)` stops at `h`, whose own op is then whole; `backward(inputs=[h])` runs it."""
    assert codes("h = model(x).exp()\ng = torch.autograd.grad((h * h).sum(), h)\nh.mean().backward()") == []
    assert codes("h = model(x).exp()\n(h * h).sum().backward(inputs=[h])\nh.mean().backward()") == ["GS102"]


def test_step_that_changed_what_a_pass_needs_is_the_one_before_it() -> None:
    """Steps of the same optimizer that come after the failing pass have changed nothing for it."""
    program = """\
import torch
from torch import nn

model, head = nn.Linear(4, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
x = torch.randn(8, 4)
h = model(x)
loss = head(h).mean()
loss.backward(retain_graph=True)
opt.step()
loss.backward()
for _ in range(9):
    opt.zero_grad()
    head(model(x)).mean().backward()
    opt.step()
"""

    (found,) = check_content("program.py", program.encode()).diagnoses

    assert found.code == "GS201"
    assert found.changed is not None
    assert found.changed.line == 10


def test_parameter_that_is_changed_by_hand_is_to_be_changed_later() -> None:
    """Not a copy of it, which the network would never see; a step that comes later has nothing to do with it."""
    program = """\
import torch
from torch import nn

model = nn.Linear(4, 4)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.randn(9, 8, 4):
    loss = model(batch.requires_grad_()).mean()
    with torch.no_grad():
        model.weight.clamp_(min=0.0)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

    (found,) = check_content("program.py", program.encode()).diagnoses

    assert found.code == "GS202"
    assert found.changed is not None
    assert found.changed.line == 9
    assert found.fixes[0].kind == "reorder"
