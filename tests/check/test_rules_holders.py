"""Holders: what lists, totals, attributes and caches keep from one iteration to the next."""

import pytest

from check.rules import Rule, check

RULES = [
    Rule(
        "what a short loop gathers is kept only if it outlasts the loop around it",
        "GS301",
        found=(
            """
            losses = []
            for epoch in range(9):
                for sign in (-1, 1):
                    opt.zero_grad()
                    loss = model(sign * x).mean()
                    loss.backward()
                    opt.step()
                    losses.append(loss)
            """,
            """
            for epoch in range(9):
                losses = []
                for batch in loader:
                    opt.zero_grad()
                    loss = model(batch).mean()
                    loss.backward()
                    opt.step()
                    losses.append(loss)
            """,
            """
            losses = []
            for step in range(4):
                opt.zero_grad()
                loss = model(x).mean()
                loss.backward()
                opt.step()
                losses.append(loss)
            """,
        ),
        near_miss="""
        def adapt(tasks):
            losses = []
            for task in tasks:
                opt.zero_grad()
                loss = model(task).mean()
                loss.backward()
                opt.step()
                losses.append(loss)
            return torch.stack(losses).mean().item()
        for step in range(99):
            adapt([torch.randn(8, 4) for _ in range(5)])
        """,
    ),
    Rule(
        "a list of losses keeps their graphs",
        "GS301",
        found=(
            """
            seen = []
            for _ in range(9):
                opt.zero_grad()
                loss = F.mse_loss(model(x), x)
                loss.backward()
                opt.step()
                seen.append(loss)
            """,
            """
            class Log:
                def __init__(self):
                    self.seen = []
            log = Log()
            for _ in range(9):
                opt.zero_grad()
                loss = F.mse_loss(model(x), x)
                loss.backward()
                opt.step()
                log.seen.append(loss)
            """,
            """
            total = 0
            for _ in range(9):
                opt.zero_grad()
                loss = F.mse_loss(model(x), x)
                loss.backward()
                opt.step()
                total += loss
            """,
        ),
        near_miss="""
        seen = []
        for _ in range(9):
            opt.zero_grad()
            loss = F.mse_loss(model(x), x)
            loss.backward()
            opt.step()
            seen.append(loss.item())
        """,
    ),
    Rule(
        "what is put away before the pass that shows its graph is put away with it",
        "GS301",
        found=(
            """
            def train(compute, loader, optimizer):
                losses = []
                for x in loader:
                    optimizer.zero_grad()
                    loss = compute(x)
                    losses.append(loss)
                    loss.backward()
                    optimizer.step()
                return losses
            """,
            """
            class Log:
                def __init__(self):
                    self.seen = []
            def train(compute, loader, optimizer):
                log = Log()
                for x in loader:
                    optimizer.zero_grad()
                    loss = compute(x)
                    log.seen.append(loss)
                    loss.backward()
                    optimizer.step()
            """,
            """
            def train(compute, loader, optimizer):
                seen = {}
                for i, x in enumerate(loader):
                    optimizer.zero_grad()
                    seen[i] = loss = compute(x)
                    loss.backward()
                    optimizer.step()
                return seen
            """,
        ),
        near_miss="""
        def train(compute, loader, optimizer):
            losses, means = [], []
            for x in loader:
                losses.clear()
                optimizer.zero_grad()
                loss = compute(x)
                losses.append(loss)
                means.append(loss.item())
                loss.backward()
                optimizer.step()
            return losses
        """,
    ),
    Rule(
        "a total is kept for nothing where a pass has freed what was added to it",
        "GS301",
        found=(
            """
            total = torch.zeros(4, 4)
            for _ in range(9):
                out = model(x)
                opt.zero_grad()
                out.pow(2).mean().backward()
                opt.step()
                total += out.T @ out
            """,
            """
            precision = torch.ones(4)
            for _ in range(9):
                out = torch.tanh(model(x))
                opt.zero_grad()
                out.mean().backward()
                opt.step()
                precision = 0.9 * precision + 0.1 * out.pow(2).mean(0)
            """,
            """
            class Meter:
                def __init__(self):
                    self.confusion = torch.zeros(4, 4)
                def update(self, probability, wanted):
                    self.confusion = self.confusion + wanted.T @ probability
            meter = Meter()
            for _ in range(9):
                probability = F.softmax(model(x), 1)
                opt.zero_grad()
                F.nll_loss(probability.log(), x.argmax(1)).backward()
                opt.step()
                meter.update(probability, x)
            """,
        ),
        near_miss="""
        import torchmetrics
        accuracy, total = torchmetrics.classification.MulticlassAccuracy(num_classes=4), 0
        for _ in range(9):
            probability = F.softmax(model(x), 1)
            opt.zero_grad()
            F.nll_loss(probability.log(), x.argmax(1)).backward()
            opt.step()
            total += accuracy(probability, x.argmax(1)) / 9
        """,
    ),
    Rule(
        "a dict that is fed under numbers keeps all of them",
        "GS301",
        found=(
            """
            seen = {}
            for i in range(9):
                opt.zero_grad()
                loss = F.mse_loss(model(x), x)
                loss.backward()
                opt.step()
                seen[i] = loss
            """,
        ),
        near_miss="""
        seen = {}
        for i in range(9):
            opt.zero_grad()
            loss = F.mse_loss(model(x), x)
            loss.backward()
            opt.step()
            seen['last'] = loss
        """,
    ),
    Rule(
        "a queue with a limit forgets, an endless one does not",
        "GS301",
        found=(
            """
            from collections import deque
            seen = deque()
            for _ in range(9):
                opt.zero_grad()
                loss = F.mse_loss(model(x), x)
                loss.backward()
                opt.step()
                seen.append(loss)
            """,
        ),
        near_miss="""
        from collections import deque
        seen = deque(maxlen=10)
        for _ in range(9):
            opt.zero_grad()
            loss = F.mse_loss(model(x), x)
            loss.backward()
            opt.step()
            seen.append(loss)
        """,
    ),
    Rule(
        "a total that is back-propagated again and again",
        "GS105",
        found=(
            """
            total = 0
            for _ in range(9):
                total = total + model(x).exp().mean()
                total.backward()
            """,
            """
            total = torch.zeros(())
            for _ in range(9):
                total += model(x).exp().mean()
                total.backward()
            """,
        ),
        near_miss="""
        total = 0
        for _ in range(9):
            total = total + model(x).exp().mean()
        total.backward()
        """,
    ),
    Rule(
        "a total is a total in whatever it stands",
        "GS301",
        found=(
            """
            totals = {'mse': 0.0}
            for _ in range(9):
                opt.zero_grad()
                loss = F.mse_loss(model(x), x)
                loss.backward()
                opt.step()
                totals['mse'] += loss
            """,
            """
            sums = [0.0, 0.0]
            for _ in range(9):
                opt.zero_grad()
                losses = [F.mse_loss(model(x), x), model(x).abs().mean()]
                sum(losses).backward()
                opt.step()
                for i, each in enumerate(losses):
                    sums[i] += each
            """,
            """
            from collections import defaultdict
            class Meter:
                def __init__(self):
                    self.total = 0
                def add(self, value):
                    self.total = self.total + value
            meters = defaultdict(Meter)
            for _ in range(9):
                opt.zero_grad()
                loss = F.mse_loss(model(x), x)
                loss.backward()
                opt.step()
                for key, each in {'mse': loss}.items():
                    meters[key].add(each)
            """,
            """
            average = 0.0
            for _ in range(9):
                opt.zero_grad()
                loss = F.mse_loss(model(x), x)
                loss.backward()
                opt.step()
                average = 0.9 * average + 0.1 * loss
            """,
        ),
        near_miss="""
        totals = {'mse': 0.0}
        for _ in range(9):
            opt.zero_grad()
            loss = F.mse_loss(model(x), x)
            loss.backward()
            opt.step()
            totals['mse'] = loss
        """,
    ),
    Rule(
        "what nobody back-propagates is kept, where every iteration computes a graph of its own",
        "GS301",
        found=(
            """
            model(x).mean().backward()
            opt.step()
            total = 0.0
            for batch in torch.randn(9, 8, 4):
                total += F.mse_loss(model(batch), batch)
            print(total)
            """,
        ),
        near_miss="""
        model(x).mean().backward()
        opt.step()
        total = 0.0
        for row in model(x):
            total += row.abs().mean()
        print(total)
        """,
    ),
    Rule(
        "what is not known as a key means the slot that it meant before",
        "GS301",
        found=(
            """
            def train(loader, names):
                totals = {name: 0.0 for name in names}
                for batch in loader:
                    losses = {'a': model(batch).mean(), 'b': model(batch).abs().mean()}
                    opt.zero_grad()
                    sum(losses.values()).backward()
                    opt.step()
                    for name, each in zip(names, losses.values()):
                        totals[name] += each
            """,
        ),
        near_miss="""
        log = {}
        for _ in range(9):
            opt.zero_grad()
            y = model(x)
            for layer in [nn.MSELoss(), nn.L1Loss()]:
                log[str(type(layer).__name__)] = layer(y, x)
            loss = y.mean()
            for value in log.values():
                loss = loss + value
            loss.backward()
            opt.step()
        """,
    ),
    Rule(
        "what is changed in place takes on the graph of what it is changed with",
        "GS301",
        found=(
            """
            total = torch.zeros(1)
            for batch in x:
                opt.zero_grad()
                loss = model(batch).mean()
                loss.backward()
                opt.step()
                total.add_(loss)
            """,
            """
            from lib import new_total
            total = new_total()
            for batch in x:
                opt.zero_grad()
                loss = model(batch).mean()
                loss.backward()
                opt.step()
                total.add_(loss.cpu() * len(batch))
            """,
            """
            class Trainer:
                def __init__(self):
                    self.total = None
                def begin(self):
                    self.total = torch.zeros(1)
                def train_step(self, batch):
                    opt.zero_grad()
                    loss = model(batch).mean()
                    loss.backward()
                    opt.step()
                    self.total.add_(loss)
            """,
        ),
        near_miss="""
        from lib import new_total
        total, most = new_total(), torch.zeros(1)
        for batch in x:
            opt.zero_grad()
            loss = model(batch).mean()
            loss.backward()
            opt.step()
            total.add_(loss.item())
            most.add_(loss.detach())
        """,
    ),
    Rule(
        "a cache keeps the graph of the step that filled it",
        "GS109",
        found=(
            """
            cache = {}
            def scale(key):
                if key not in cache:
                    cache[key] = model.weight.exp()
                return cache[key]
            for batch in torch.randn(9, 8, 4):
                opt.zero_grad()
                (model(batch) @ scale('all')).mean().backward()
                opt.step()
            """,
            """
            class Table:
                kept = None
                def get(self):
                    if self.kept is None:
                        self.kept = model.weight.exp()
                    return self.kept
            table = Table()
            for _ in range(9):
                opt.zero_grad()
                (model(x) @ table.get()).mean().backward()
                opt.step()
            """,
        ),
        near_miss="""
        class Table:
            kept = None
            def get(self):
                if self.kept is None:
                    self.kept = model.weight.exp()
                return self.kept
        table = Table()
        for _ in range(9):
            opt.zero_grad()
            (model(x) @ table.get()).mean().backward()
            opt.step()
            table.kept = None
        """,
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rule_of_holders(rule: Rule) -> None:
    """Each rule finds its programs, and lets the one go that only looks like them."""
    check(rule)
