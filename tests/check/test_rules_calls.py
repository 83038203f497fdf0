"""Calls and layers: what is followed into, what hands a graph on, what is taken for a module or an optimizer."""

import pytest

from check.rules import Rule, check, codes

RULES = [
    Rule(
        "a call is followed into the user's function",
        "GS203",
        found=(
            """
            def loss_of(out):
                return out.detach().mean()
            loss_of(model(x)).backward()
            """,
            """
            loss_of = lambda out: out.detach().mean()
            loss_of(model(x)).backward()
            """,
            """
            from functools import partial
            def loss_of(k, out):
                return out.detach().mean() * k
            partial(loss_of, 2)(model(x)).backward()
            """,
            """
            class Scorer:
                def __call__(self, out):
                    return out.detach().mean()
            Scorer()(model(x)).backward()
            """,
        ),
        near_miss="""
        def loss_of(out):
            out.detach()
            return out.mean()
        loss_of(model(x)).backward()
        """,
    ),
    Rule(
        "an object is what the class of torch.nn is that it is built upon",
        "GS103",
        found=(
            """
            class Gate(nn.Linear):
                def forward(self, x):
                    return super().forward(x).tanh()
            gate = Gate(4, 4)
            opt = torch.optim.SGD(gate.parameters(), lr=0.1)
            h = torch.zeros(8, 4)
            for step in range(9):
                h = gate(h)
                opt.zero_grad()
                h.mean().backward()
                opt.step()
            """,
            """
            class Norm(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.mean = torch.zeros(4)
                def forward(self, x):
                    y = x - self.mean
                    self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
                    return y
            class Net(nn.Sequential):
                def __init__(self):
                    super().__init__(nn.Linear(4, 4), Norm(), nn.Linear(4, 1))
            net = Net()
            opt = torch.optim.SGD(net.parameters(), lr=0.1)
            for step in range(9):
                opt.zero_grad()
                net(x).mean().backward()
                opt.step()
            """,
            """
            class Stack(nn.ModuleList):
                def forward(self, x):
                    for each in self:
                        x = each(x).tanh()
                    return x
            net = Stack([nn.Linear(4, 4), nn.Linear(4, 4)])
            opt = torch.optim.SGD(net.parameters(), lr=0.1)
            h = torch.zeros(8, 4)
            for step in range(9):
                h = net(h)
                opt.zero_grad()
                h.mean().backward()
                opt.step()
            """,
        ),
        near_miss="""
        class Gate(nn.Linear):
            def forward(self, x):
                return super().forward(x).tanh()
        gate = Gate(4, 4)
        opt = torch.optim.SGD(gate.parameters(), lr=0.1)
        h = torch.zeros(8, 4)
        for step in range(9):
            h = gate(h.detach())
            opt.zero_grad()
            h.mean().backward()
            opt.step()
        """,
    ),
    Rule(
        "a record is finished by its own method",
        "GS103",
        found=(
            """
            from dataclasses import dataclass
            @dataclass
            class Learner:
                net: nn.Module
                def __post_init__(self):
                    self.h = torch.zeros(8, 4)
                def step(self):
                    self.h = self.net(self.h).tanh()
                    self.h.mean().backward()
            learner = Learner(model)
            for step in range(9):
                learner.step()
                opt.step()
            """,
            """
            from dataclasses import dataclass, field
            @dataclass
            class Learner:
                net: nn.Module = field(default_factory=lambda: nn.Linear(4, 4))
                def __post_init__(self):
                    self.opt, self.h = torch.optim.SGD(self.net.parameters(), lr=0.1), torch.zeros(8, 4)
                def step(self):
                    self.h = self.net(self.h).tanh()
                    self.opt.zero_grad()
                    self.h.mean().backward()
                    self.opt.step()
            learner = Learner()
            for step in range(9):
                learner.step()
            """,
            """
            import dataclasses
            @dataclasses.dataclass
            class State:
                h: torch.Tensor = None
                def __post_init__(self):
                    self.h = torch.zeros(8, 4)
            state = State()
            for step in range(9):
                state.h = model(state.h).tanh()
                state.h.mean().backward()
                opt.step()
            """,
        ),
        near_miss="""
        from dataclasses import dataclass
        @dataclass
        class State:
            h: torch.Tensor
            def __post_init__(self):
                self.h = self.h.detach()
        state = State(torch.zeros(8, 4))
        for step in range(9):
            state = State(model(state.h).tanh())
            opt.zero_grad()
            model(state.h).mean().backward()
            opt.step()
        """,
    ),
    Rule(
        "a cache is asked again for what is not known",
        "GS109",
        found=(
            """
            from functools import lru_cache
            table = nn.Embedding(9, 4)
            @lru_cache(maxsize=8)
            def bias(length):
                return table(torch.arange(length)).tanh()
            for batch in loader:
                (model(batch) + bias(batch.shape[1])).mean().backward()
                opt.step()
            """,
            """
            from functools import cache
            class Bias(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.table = nn.Embedding(9, 4)
                @cache
                def forward(self, length):
                    return self.table(torch.arange(length)).tanh()
            bias = Bias()
            for step in range(9):
                (model(x) + bias(x.shape[0])).mean().backward()
                opt.step()
            """,
            """
            import functools
            @functools.lru_cache
            def kernel(device):
                return model(torch.ones(1, 4)).softmax(-1)
            for step in range(9):
                (model(x) * kernel(x.device)).mean().backward()
                opt.step()
            """,
        ),
        near_miss="""
        from functools import lru_cache
        table = nn.Embedding(9, 4)
        @lru_cache(maxsize=8)
        def places(length):
            return torch.arange(length)
        for batch in loader:
            opt.zero_grad()
            (model(batch) + table(places(batch.shape[1])).tanh()).mean().backward()
            opt.step()
        """,
    ),
    Rule(
        "a module of the user's is called through its forward",
        "GS203",
        found=(
            """
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.f = nn.Linear(4, 1)
                def forward(self, x):
                    return self.f(x).detach()
            Net()(x).sum().backward()
            """,
            """
            class Base(nn.Module):
                def forward(self, x):
                    return self.f(x).detach()
            class Net(Base):
                def __init__(self):
                    super().__init__()
                    self.f = nn.Linear(4, 1)
            Net()(x).sum().backward()
            """,
            """
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.f = nn.Linear(4, 1)
                def forward(self, x):
                    return self.half(x)
                def half(self, x):
                    return self.f(x).data
            Net()(x).sum().backward()
            """,
        ),
        near_miss="""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.f = nn.Linear(4, 1)
            def forward(self, x):
                return self.f(x.detach())
        Net()(x).sum().backward()
        """,
    ),
    Rule(
        "a chain of layers is one graph",
        "GS101",
        found=(
            """
            net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
            loss = net(x).sum()
            loss.backward()
            loss.backward()
            """,
            """
            layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
            h = x
            for layer in layers:
                h = layer(h)
            loss = h.exp().sum()
            loss.backward()
            loss.backward()
            """,
            """
            net = nn.Sequential()
            net.append(nn.Linear(4, 4))
            net.append(nn.Tanh())
            loss = net(x).sum()
            loss.backward()
            loss.backward()
            """,
        ),
        near_miss="""
        net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        net(x).sum().backward()
        net(x).sum().backward()
        """,
    ),
    Rule(
        "an unknown function hands on what it was given, for certain only where that is all it can hand on",
        "GS102",
        found=(
            """
            from tools import transformed
            h = model(x).exp()
            transformed(h).backward()
            transformed(h).backward()
            """,
            """
            from tools import scale
            h = model(x).exp()
            scale(h, 2).backward()
            scale(h, 3).backward()
            """,
        ),
        near_miss="""
        from tools import mixed
        h = model(x).exp()
        mixed(h, h.sin()).backward()
        mixed(h, h.cos()).backward()
        """,
    ),
    Rule(
        "an unknown receiver of a loss asks for a pass over the loss",
        "GS101",
        found=(
            """
            from accelerate import Accelerator
            accelerator = Accelerator()
            loss = model(x).exp().mean()
            accelerator.backward(loss)
            accelerator.backward(loss)
            """,
            """
            def train(fabric):
                loss = model(x).exp().mean()
                fabric.backward(loss)
                fabric.backward(loss)
            """,
            """
            import tools
            engine = tools.start(model)
            loss = model(x).exp().mean()
            engine.backward(loss=loss)
            engine.backward(loss=loss)
            """,
        ),
        near_miss="""
        from accelerate import Accelerator
        accelerator = Accelerator()
        for _ in range(2):
            loss = model(x).exp().mean()
            accelerator.backward(loss)
        """,
    ),
    Rule(
        "what prepares a model and its optimizer hands both back",
        "GS303",
        found=(
            """
            from accelerate import Accelerator
            from lightning.fabric import Fabric
            accelerator, fabric = Accelerator(), Fabric()
            net = nn.Linear(4, 4)
            adam = torch.optim.Adam(net.parameters())
            net, adam = accelerator.prepare(net, adam)
            for _ in range(9):
                net(x).mean().backward()
                adam.step()
            """,
            """
            from accelerate import Accelerator
            from lightning.fabric import Fabric
            accelerator, fabric = Accelerator(), Fabric()
            net = nn.Linear(4, 4)
            adam = torch.optim.Adam(net.parameters())
            net, adam = fabric.setup(net, adam)
            for _ in range(9):
                net(x).mean().backward()
                adam.step()
            """,
            """
            from accelerate import Accelerator
            from lightning.fabric import Fabric
            accelerator, fabric = Accelerator(), Fabric()
            net = nn.Linear(4, 4)
            adam = torch.optim.Adam(net.parameters())
            adam = accelerator.prepare(adam)
            for _ in range(9):
                net(x).mean().backward()
                adam.step()
            """,
        ),
        near_miss="""
        from accelerate import Accelerator
        from lightning.fabric import Fabric
        accelerator, fabric = Accelerator(), Fabric()
        net = nn.Linear(4, 4)
        adam = torch.optim.Adam(net.parameters())
        net, adam = accelerator.prepare(net, adam)
        for _ in range(9):
            net(x).mean().backward()
            adam.step()
            adam.zero_grad()
        """,
    ),
    Rule(
        "an unknown model that is moved or switched is the same model",
        "GS103",
        found=(
            """
            def train(encoder, batches):
                enc = encoder.float()
                h = None
                for batch in batches:
                    h = enc(batch, h)
                    h.sum().backward()
            """,
            """
            def train(policy, batches):
                worker = policy.cpu()
                h = None
                for batch in batches:
                    h = worker(batch, h)
                    h.sum().backward()
            """,
            """
            def train(rnn, batches, device):
                cell = rnn.to(device)
                h = None
                for batch in batches:
                    out, h = cell(batch, h)
                    out.sum().backward()
            """,
        ),
        near_miss="""
        def train(encoder, batches):
            enc = encoder.float()
            h = None
            for batch in batches:
                h = enc(batch, h)
                h.sum().backward()
                h = h.detach()
        """,
    ),
    Rule(
        "a scaled loss is the loss",
        "GS101",
        found=(
            """
            scaler = torch.amp.GradScaler()
            loss = model(x).exp().mean()
            scaler.scale(loss).backward()
            scaler.scale(loss).backward()
            """,
            """
            loss = model(x).exp().mean()
            (loss / 2).backward()
            (loss / 2).backward()
            """,
        ),
        near_miss="""
        scaler = torch.amp.GradScaler()
        for _ in range(2):
            loss = model(x).exp().mean()
            scaler.scale(loss).backward()
        """,
    ),
    Rule(
        "a pass in the backward of a Function frees what it walks",
        "GS113",
        found=(
            """
            class Twice(torch.autograd.Function):
                @staticmethod
                def forward(ctx, y):
                    with torch.enable_grad():
                        ctx.y = y.detach().requires_grad_()
                        ctx.out = ctx.y.exp()
                    return ctx.out.detach()
                @staticmethod
                def backward(ctx, g):
                    return torch.autograd.grad(ctx.out, ctx.y, g)[0]
            y = Twice.apply(model(x)).sum()
            y.backward(retain_graph=True)
            y.backward()
            """,
        ),
        near_miss="""
        class Once(torch.autograd.Function):
            @staticmethod
            def forward(ctx, y):
                with torch.enable_grad():
                    ctx.y = y.detach().requires_grad_()
                    ctx.out = ctx.y.exp()
                return ctx.out.detach()
            @staticmethod
            def backward(ctx, g):
                return torch.autograd.grad(ctx.out, ctx.y, g, retain_graph=True)[0]
        y = Once.apply(model(x)).sum()
        y.backward(retain_graph=True)
        y.backward()
        """,
    ),
    Rule(
        "a method that calls one with a pass fails by the steps of its own optimizers, whatever it is given",
        "GS201",
        found=(
            """
            def update(optimizer, loss):
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            class Agent:
                def __init__(self):
                    self.actor, self.critic = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1))
                    self.actor_opt = torch.optim.Adam(self.actor.parameters())
                    self.critic_opt = torch.optim.Adam(self.critic.parameters())
                def learn(self, states, targets):
                    critic_loss = F.mse_loss(self.critic(states), targets)
                    actor_loss = -self.critic(self.actor(states)).mean()
                    update(self.critic_opt, critic_loss)
                    update(self.actor_opt, actor_loss)
            """,
            """
            class Gan:
                def __init__(self):
                    self.g, self.d = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1))
                    self.g_opt = torch.optim.Adam(self.g.parameters())
                    self.d_opt = torch.optim.Adam(self.d.parameters())
                def losses(self, real):
                    fake = self.g(torch.randn_like(real))
                    return self.d(real).mean() - self.d(fake.detach()).mean(), self.d(fake).mean()
                def apply(self, loss, optimizer):
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                def step(self, real):
                    for_d, for_g = self.losses(real)
                    self.apply(for_d, self.d_opt)
                    self.apply(for_g, self.g_opt)
            """,
            """
            class Worker:
                def __init__(self, lr):
                    self.net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
                    self.opt = torch.optim.SGD(self.net.parameters(), lr=lr)
                def train_on(self, loss):
                    self.opt.zero_grad()
                    loss.backward()
                    self.opt.step()
                def round(self, first, second):
                    one, two = self.net(first).mean(), self.net(second).mean()
                    self.train_on(one)
                    self.train_on(two)
            """,
        ),
        near_miss="""
        class Worker:
            def __init__(self, lr):
                self.net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
                self.opt = torch.optim.SGD(self.net.parameters(), lr=lr)
            def train_on(self, loss):
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            def round(self, first, second):
                self.train_on(self.net(first).mean())
                self.train_on(self.net(second).mean())
        """,
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rule_of_calls(rule: Rule) -> None:
    """Each rule finds its programs, and lets the one go that only looks like them."""
    check(rule)


def test_who_calls_a_method_with_a_pass_is_followed_too() -> None:
    """A trainer that nobody creates in its file: the pass is in one method, the total in another."""
    program = """
    class Trainer:
        def __init__(self, model, opt):
            self.model, self.opt = model, opt
        def training(self, batch):
            loss = self.model(batch).sum()
            loss.backward()
            return loss{}
        def fit(self, batches):
            total = torch.tensor(0.0)
            for batch in batches:
                self.opt.zero_grad()
                total += self.training(batch)
                self.opt.step()
            return total.item()
    """
    begin = "import torch\n"
    assert codes(program.format(""), begin) == ["GS301"]
    assert codes(program.format(".detach()"), begin) == []
