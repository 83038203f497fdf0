"""What a pass proves of values that nobody knows, and what may be said of graphs that are only assumed."""

import pytest

from check.rules import Rule, check, codes

RULES = [
    Rule(
        "a pass shows that its root has a graph, and so has what that was taken out of",
        "GS301",
        found=(
            """
            from lib import training_step
            outputs = []
            for i, batch in enumerate(x):
                opt.zero_grad()
                output = training_step(batch, i)
                output['loss'].backward()
                opt.step()
                outputs.append(output)
            """,
            """
            from lib import compute
            outputs = []
            for batch in x:
                opt.zero_grad()
                losses = compute(batch)
                sum(losses.values()).backward()
                opt.step()
                outputs.append(losses)
            """,
            """
            from lib import compute
            total = 0
            for batch in x:
                opt.zero_grad()
                first, second = compute(batch)
                (first + 0.5 * second).backward()
                opt.step()
                total += first
            """,
        ),
        near_miss="""
        from lib import training_step
        outputs = []
        for i, batch in enumerate(x):
            opt.zero_grad()
            output = training_step(batch, i)
            output['loss'].backward()
            opt.step()
            outputs.append(output['metrics'])
        """,
    ),
    Rule(
        "what a forward lets a base class of a library compute has the graph of what it was given",
        "GS103",
        found=tuple(
            f"""
            from lib import Passing
            class Conv(Passing):
                def forward(self, weight, nodes):
                    return {computed}
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.cell, self.conv, self.weight = nn.GRU(4, 4), Conv(), torch.randn(1, 4)
                def forward(self, nodes):
                    _, self.weight = self.cell(nodes, self.weight)
                    return self.conv(self.weight, nodes)
            net = Net()
            opt = torch.optim.SGD(net.parameters(), lr=0.1)
            for batch in x:
                opt.zero_grad()
                net(batch).mean().backward()
                opt.step()
            """
            for computed in (
                "self.propagate(None, x=nodes @ weight)",
                "self.update(self.gather(nodes @ weight))",
                "self.norm(weight) @ nodes",
            )
        ),
        near_miss="""
        from lib import Passing
        class Conv(Passing):
            def forward(self, weight, nodes):
                return self.propagate(None, x=nodes @ weight)
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell, self.conv, self.weight = nn.GRU(4, 4), Conv(), torch.randn(1, 4)
            def forward(self, nodes):
                _, self.weight = self.cell(nodes, self.weight.detach())
                return self.conv(self.weight, nodes)
        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for batch in x:
            opt.zero_grad()
            net(batch).mean().backward()
            opt.step()
        """,
    ),
    Rule(
        "a pass over an unknown graph feeds the optimizer that steps next",
        "GS303",
        found=(
            """
            from lib import compute
            for batch in x:
                compute(batch).backward()
                opt.step()
            """,
            """
            def train(compute, loader, optimizer):
                for batch in loader:
                    loss = compute(batch)
                    loss.backward()
                    optimizer.step()
            """,
            """
            from lib import compute
            for batch in x:
                losses = compute(batch)
                losses['a'].backward()
                opt.step()
            """,
        ),
        near_miss="""
        def train(compute, clear, loader, optimizer):
            for batch in loader:
                clear(optimizer)
                loss = compute(batch)
                loss.backward()
                optimizer.step()
        """,
    ),
    Rule(
        "a call whose result is back-propagated has computed it and cleared nothing",
        "GS303",
        found=(
            """
            from lib import diffusion
            for batch in x:
                losses = diffusion.training_losses(model, batch)
                losses['loss'].mean().backward()
                opt.step()
            """,
            """
            from lib import objective
            scaler = torch.amp.GradScaler()
            for batch in x:
                scaler.scale(objective(model, batch)).backward()
                scaler.step(opt)
                scaler.update()
            """,
            """
            from lib import objective
            def train(flag, loader):
                for batch in loader:
                    loss = objective(batch, model=model)
                    if flag:
                        opt.zero_grad()
                        loss.backward()
                        opt.step()
                    else:
                        loss.backward()
                        opt.step()
            """,
        ),
        near_miss="""
        from lib import prepare
        for batch in x:
            prepare(model)
            F.mse_loss(model(batch), batch).backward()
            opt.step()
        """,
    ),
    Rule(
        "a term that is made of `.data` of a model's weights is a constant, though the model is only assumed",
        "GS306",
        found=(
            """
            def train(model, loader, optimizer, weight):
                for data, target in loader:
                    fit = F.mse_loss(model(data), target)
                    norm = torch.norm(model.decoder.data, p=1)
                    total = fit + weight * norm
                    optimizer.zero_grad()
                    total.backward()
                    optimizer.step()
            """,
            """
            def train(net, loader, optimizer, weight):
                for data, target in loader:
                    penalty = 0.0
                    for p in net.parameters():
                        penalty = penalty + p.data.abs().sum()
                    total = F.mse_loss(net(data), target) + weight * penalty
                    optimizer.zero_grad()
                    total.backward()
                    optimizer.step()
            """,
            """
            class Trainer:
                def __init__(self, model):
                    self.model = model
                    self.optimizer = torch.optim.Adam(self.model.parameters())
                def train(self, loader):
                    for data, target in loader:
                        smooth = self.model.filters.data.pow(2).mean() + self.model.scale.data.abs().sum()
                        loss = F.mse_loss(self.model(data), target) + 0.1 * smooth
                        self.optimizer.zero_grad()
                        loss.backward()
                        self.optimizer.step()
            """,
        ),
        near_miss="""
        def train(model, loader, optimizer, weight):
            for data, target in loader:
                fit = F.mse_loss(model(data), target)
                total = fit + weight * (model.decoder - model.decoder.data).abs().sum()
                optimizer.zero_grad()
                total.backward()
                optimizer.step()
                model.decoder.data.clamp_(min=0)
        """,
    ),
    Rule(
        "what `state_dict()` gives are values: a term that is made of them is a constant",
        "GS306",
        found=(
            """
            old = {name: p.detach().clone() for name, p in model.named_parameters()}
            for batch in x:
                drift = torch.zeros(())
                for name, value in model.state_dict().items():
                    drift = drift + (value - old[name]).square().sum()
                loss = F.mse_loss(model(batch), batch) + drift
                opt.zero_grad()
                loss.backward()
                opt.step()
            """,
            """
            def size(net):
                return sum(value.abs().sum() for value in net.state_dict().values())
            for batch in x:
                loss = F.mse_loss(model(batch), batch) + 0.01 * size(model)
                opt.zero_grad()
                loss.backward()
                opt.step()
            """,
            """
            class Anchor:
                def __init__(self, model):
                    self.model = model
                    self.means = {name: p.detach().clone() for name, p in model.named_parameters()}
                def __call__(self):
                    now = self.model.state_dict()
                    return sum(((now[name] - self.means[name]) ** 2).sum() for name in now)
            anchor = Anchor(model)
            for batch in x:
                loss = F.mse_loss(model(batch), batch) + anchor()
                opt.zero_grad()
                loss.backward()
                opt.step()
            """,
        ),
        near_miss="""
        old = {name: value.clone() for name, value in model.state_dict().items()}
        for batch in x:
            drift = sum(((p - old[name]) ** 2).sum() for name, p in model.named_parameters())
            loss = F.mse_loss(model(batch), batch) + drift
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    ),
    Rule(
        "a retain of which nothing is known to need it is needless, though the model is only assumed",
        "GS302",
        found=(
            """
            class Trainer:
                def __init__(self, model, criterion, optimizer):
                    self.model, self.criterion, self.optimizer = model, criterion, optimizer
                def train(self, loader):
                    for data in loader:
                        out, other = self.model(data)
                        loss = self.criterion(out, data) + self.criterion(other, data)
                        self.optimizer.zero_grad()
                        loss.backward(retain_graph=True)
                        self.optimizer.step()
            """,
            """
            def train(net, loader, optimizer):
                for data, target in loader:
                    loss = F.mse_loss(net(data), target)
                    optimizer.zero_grad()
                    loss.backward(retain_graph=True)
                    optimizer.step()
            """,
        ),
        near_miss="""
        def train(net, penalty, loader, optimizer):
            for data, target in loader:
                loss = F.mse_loss(net(data), target)
                optimizer.zero_grad()
                loss.backward(retain_graph=True)
                penalty(data).backward()
                optimizer.step()
        """,
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rule_of_the_unknown(rule: Rule) -> None:
    """Each rule finds its programs, and lets the one go that only looks like them."""
    check(rule)


def test_what_was_handed_in_may_be_needed_by_whoever_did() -> None:
    """A graph that comes from outside is kept for reasons that cannot be seen."""
    assert codes("def back(loss):\n    loss.backward(retain_graph=True)\n") == []
