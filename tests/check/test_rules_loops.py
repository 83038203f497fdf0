"""Loops and branches: two iterations show what is carried, and a finding is a path that exists."""

import pytest

from check.rules import Rule, check, codes

RULES = [
    Rule(
        "a loop over the parameters of a model goes over all of them",
        "GS306",
        found=(
            """
            class Clip(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.tower = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 4))
                    self.scale = nn.Parameter(torch.ones(()))
                def forward(self, x):
                    return self.tower(x) * self.scale.exp().item()

            clip = Clip()
            decay, plain = [], []
            for name, p in clip.named_parameters():
                (plain if p.ndim < 2 else decay).append(p)
            opt = torch.optim.AdamW([{"params": decay}, {"params": plain, "weight_decay": 0.0}])
            for _ in range(9):
                opt.zero_grad()
                F.mse_loss(clip(x), x).backward()
                opt.step()
            """,
            """
            class Clip(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.tower = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 4))
                    self.scale = nn.Parameter(torch.ones(()))
                def forward(self, x):
                    return self.tower(x) * float(self.scale)

            clip = Clip()
            chosen = []
            for p in clip.parameters():
                if p.requires_grad:
                    chosen.append(p)
            opt = torch.optim.SGD(chosen, lr=0.1)
            for _ in range(9):
                opt.zero_grad()
                F.mse_loss(clip(x), x).backward()
                opt.step()
            """,
            """
            class Clip(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.tower = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 4))
                    self.scale = nn.Parameter(torch.ones(()))
                def forward(self, x):
                    return self.tower(x) * min(self.scale.item(), 10.0)

            clip = Clip()
            groups = []
            for name, p in clip.named_parameters():
                groups += [{"params": [p], "lr": 0.1 if name.endswith("scale") else 0.01}]
            opt = torch.optim.SGD(groups)
            for _ in range(9):
                opt.zero_grad()
                F.mse_loss(clip(x), x).backward()
                opt.step()
            """,
        ),
        near_miss="""
        class Clip(nn.Module):
            def __init__(self):
                super().__init__()
                self.tower = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 4))
                self.scale = nn.Parameter(torch.ones(()))
            def forward(self, x):
                return self.tower(x) * self.scale.exp()

        clip = Clip()
        decay, plain = [], []
        for name, p in clip.named_parameters():
            (plain if p.ndim < 2 else decay).append(p)
        opt = torch.optim.AdamW([{"params": decay}, {"params": plain, "weight_decay": 0.0}])
        for _ in range(9):
            opt.zero_grad()
            F.mse_loss(clip(x), x).backward()
            opt.step()
        print(clip.scale.item())
        """,
    ),
    Rule(
        "a value computed under a condition, once before the loop, is old in all iterations of that path",
        "GS308",
        found=(
            """
            def train(loader, decay):
                penalty = 0
                if decay > 0:
                    penalty = decay * model.weight.norm()
                for batch in loader:
                    loss = F.mse_loss(model(batch), batch) + penalty
                    opt.zero_grad()
                    loss.backward(retain_graph=True)
                    opt.step()
            """,
            """
            class Trainer:
                def __init__(self, args):
                    self.model = nn.Linear(4, 4)
                    self.optimizer = torch.optim.Adam(self.model.parameters())
                    self.reference = torch.zeros(4)
                    if args.tied:
                        self.reference = self.model(x)

                def fit(self, loader):
                    for batch in loader:
                        loss = (self.model(batch) - self.reference).pow(2).mean()
                        self.optimizer.zero_grad()
                        loss.backward(retain_graph=True)
                        self.optimizer.step()

            def main(args):
                Trainer(args).fit(torch.randn(9, 8, 4))
            """,
            """
            def train(loader, mode):
                if mode == "fixed":
                    mask = torch.sigmoid(model.weight)
                else:
                    mask = torch.ones(4, 4)
                for batch in loader:
                    loss = (batch @ mask).mean()
                    opt.zero_grad()
                    loss.backward(retain_graph=True)
                    opt.step()
            """,
        ),
        near_miss="""
        def train(loader, decay):
            if decay > 0:
                penalty = decay * model.weight.norm()
                print(penalty)
            for batch in loader:
                loss = F.mse_loss(model(batch), batch)
                if decay > 0:
                    penalty = decay * model.weight.norm()
                    loss = loss + penalty
                opt.zero_grad()
                loss.backward(retain_graph=decay > 1)
                opt.step()
        """,
    ),
    Rule(
        "a third iteration is followed where the second is the first to walk what was left behind",
        "GS103",
        found=(
            """
            memory = torch.zeros(8, 4)
            for batch in loader:
                opt.zero_grad()
                model(memory).mean().backward()
                opt.step()
                memory = model(memory).tanh()
            """,
            """
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.cell, self.memory = nn.GRUCell(4, 4), torch.zeros(8, 4)
                def forward(self, x):
                    return (self.cell.weight_hh.sum() * self.memory + x).mean()
                def update(self, x):
                    self.memory = self.cell(x, self.memory)
            net = Net()
            opt = torch.optim.SGD(net.parameters(), lr=0.1)
            for batch in loader:
                loss = net(x)
                opt.zero_grad()
                loss.backward()
                opt.step()
                net.update(x)
            """,
            """
            scores = []
            seen = torch.zeros(8, 4)
            for batch in loader:
                opt.zero_grad()
                (model(x) - seen).pow(2).mean().backward()
                opt.step()
                seen = 0.9 * seen + 0.1 * model(x).exp()
            """,
        ),
        near_miss="""
        seen = torch.zeros(8, 4)
        for batch in loader:
            opt.zero_grad()
            (model(x) - seen).pow(2).mean().backward()
            opt.step()
            seen = 0.9 * seen.detach() + 0.1 * model(x).exp()
        """,
    ),
    Rule(
        "a third iteration is followed where the second walks a line that the first did not",
        "GS103",
        found=(
            """
            memory, previous = torch.zeros(8, 4), None
            for batch in loader:
                if previous is not None:
                    memory = model(memory)
                opt.zero_grad()
                torch.tanh(memory * F.softplus(model.bias)).mean().backward()
                opt.step()
                previous = batch
            """,
            """
            memory = torch.zeros(8, 4)
            for step, batch in enumerate(loader):
                if step > 0:
                    memory = model(memory)
                opt.zero_grad()
                torch.tanh(memory * F.softplus(model.bias)).mean().backward()
                opt.step()
            """,
            """
            memory, waiting = torch.zeros(8, 4), []
            for batch in loader:
                while waiting:
                    memory = model(memory + waiting.pop())
                opt.zero_grad()
                torch.tanh(memory * F.softplus(model.bias)).mean().backward()
                opt.step()
                waiting.append(1.0)
            """,
        ),
        near_miss="""
        memory, previous = torch.zeros(8, 4), None
        for batch in loader:
            if previous is not None:
                memory = model(memory.detach())
            opt.zero_grad()
            torch.tanh(memory * F.softplus(model.bias)).mean().backward()
            opt.step()
            previous = batch
        """,
    ),
    Rule(
        "what one iteration leaves behind and the next uses is carried",
        "GS103",
        found=(
            """
            h = torch.zeros(8, 4)
            for _ in range(9):
                h = torch.tanh(model(x) + h)
                h.mean().backward()
            """,
            """
            state = [torch.zeros(8, 4)]
            while True:
                state[0] = torch.tanh(model(x) + state[0])
                state[0].mean().backward()
            """,
            """
            class Cell:
                h = torch.zeros(8, 4)
                def step(self):
                    self.h = torch.tanh(model(x) + self.h)
                    return self.h.mean()
            cell = Cell()
            for _ in range(9):
                cell.step().backward()
            """,
        ),
        near_miss="""
        h = torch.zeros(8, 4)
        for _ in range(9):
            h = torch.tanh(model(x) + h.detach())
            h.mean().backward()
        """,
    ),
    Rule(
        "what was made before the loop is used up by the first iteration",
        "GS104",
        found=(
            """
            scale = model.weight.exp().sum()
            for _ in range(9):
                opt.zero_grad()
                (model(x).mean() * scale).backward()
                opt.step()
            """,
            """
            def train():
                scale = model.weight.exp().sum()
                for batch in torch.randn(9, 8, 4):
                    opt.zero_grad()
                    (model(batch).mean() * scale).backward()
                    opt.step()
            train()
            """,
        ),
        near_miss="""
        for _ in range(9):
            opt.zero_grad()
            scale = model.weight.exp().sum()
            (model(x).mean() * scale).backward()
            opt.step()
        """,
    ),
    Rule(
        "the first iteration and the later ones take different branches",
        "GS103",
        found=(
            """
            h = None
            for i in range(9):
                if h is None:
                    h = torch.zeros(8, 4)
                h = torch.tanh(model(x) + h)
                h.mean().backward()
            """,
            """
            h = None
            for i in range(9):
                if i == 0:
                    h = torch.zeros(8, 4)
                h = torch.tanh(model(x) + h)
                h.mean().backward()
            """,
        ),
        near_miss="""
        h = None
        for i in range(9):
            if h is not None:
                h = h.detach()
            h = model(x) if h is None else torch.tanh(model(x) + h)
            h.exp().mean().backward()
        """,
    ),
    Rule(
        "one condition is decided the same way again on one path",
        "GS101",
        found=(
            """
            import sys
            loss = model(x).exp().mean()
            if len(sys.argv) > 1:
                loss.backward()
            loss.backward()
            """,
            """
            import sys
            loss = model(x).exp().mean()
            if sys.flags.verbose:
                loss.backward()
            if sys.flags.verbose:
                loss.backward()
            """,
        ),
        near_miss="""
        import sys
        loss = model(x).exp().mean()
        if sys.flags.verbose:
            loss.backward()
        if not sys.flags.verbose:
            loss.backward()
        """,
    ),
    Rule(
        "a branch that leads out ends the path",
        "GS101",
        found=(
            """
            def train(done):
                loss = model(x).exp().mean()
                if done:
                    loss.backward()
                loss.backward()
            """,
            """
            def train(items):
                for item in items:
                    loss = model(x).exp().mean()
                    if item:
                        loss.backward()
                    loss.backward()
            """,
        ),
        near_miss="""
        def train(done):
            loss = model(x).exp().mean()
            if done:
                loss.backward()
                return
            loss.backward()
        """,
    ),
    Rule(
        "a loop whose first iteration asks for no pass is followed for one more",
        "GS103",
        found=(
            """
            state, previous = torch.zeros(8, 4), None
            for batch in torch.randn(9, 8, 4):
                if previous is not None:
                    state = torch.tanh(model(previous + state))
                    opt.zero_grad()
                    state.mean().backward()
                    opt.step()
                previous = batch
            """,
        ),
        near_miss="""
        previous = None
        for batch in torch.randn(9, 8, 4):
            if previous is not None:
                state = torch.tanh(model(previous))
                opt.zero_grad()
                state.mean().backward()
                opt.step()
            previous = batch
        """,
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rule_of_loops(rule: Rule) -> None:
    """Each rule finds its programs, and lets the one go that only looks like them."""
    check(rule)


ONE_STEP = {
    "every token of a sequence": """
        encoder, cell = nn.Linear(4, 4), nn.GRUCell(4, 4)
        hidden = encoder(x).tanh()
        for token in range(3):
            hidden = cell(x, hidden)
            hidden.pow(2).mean().backward()
            {trained}
        """,
    "every head of a network": """
        heads = [nn.Linear(4, 1) for _ in range(3)]
        features = nn.Linear(4, 4)(x).tanh()
        for head in heads:
            features = features.exp()
            head(features).mean().backward()
            {trained}
        """,
    "every part of a total": """
        shift = nn.Linear(4, 4)
        state = nn.Linear(4, 4)(x).tanh()
        for k in range(3):
            state = shift(state).tanh()
            (state * k).sum().backward()
            {trained}
        """,
}


@pytest.mark.parametrize("program", ONE_STEP.values(), ids=list(ONE_STEP))
def test_the_iterations_of_a_loop_are_steps_only_if_they_train_again(program: str) -> None:
    """Where nothing is changed between two passes, and not all parameters are used again, both belong to one step."""
    assert codes(program.replace("{trained}", "")) == ["GS102"]
    assert codes(program.replace("{trained}", "opt.step()")) != ["GS102"]


def test_a_loop_over_what_a_generator_never_gave_is_over() -> None:
    """It is followed for no iteration, and what comes after it is."""
    program = """
    def results():
        for step in range(3):
            if step > 5:
                yield step
    for each in results():
        print(each)
    model(x).detach().mean().backward()
    """

    assert codes(program) == ["GS203"]
