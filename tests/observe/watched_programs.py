"""Small programs for the ledger, each with the codes that it is to find there: none where all is well."""

from collections import deque
from collections.abc import Callable

import torch
from torch import nn

Program = Callable[[], None]

EXPECTED: dict[Program, list[str]] = {}


def finds(*codes: str) -> Callable[[Program], Program]:
    """Note what is to be found in a program."""

    def noted(program: Program) -> Program:
        EXPECTED[program] = list(codes)
        return program

    return noted


def learner() -> tuple[nn.Module, torch.optim.Optimizer]:
    """A model and its optimizer."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


def loss_of(model: nn.Module) -> torch.Tensor:
    """Of a fresh batch."""
    return model(torch.randn(5, 4)).square().mean()  # type: ignore[no-any-return]


@finds("GS302")
def retains_for_nobody_by_default_on_a_device() -> None:
    """GS302, with a function of PyTorch's own between the line and its pass."""
    torch.set_default_device("cpu")
    try:
        retains_for_nobody()
    finally:
        torch.set_default_device(None)


@finds("GS303")
def never_clears() -> None:
    """GS303."""
    model, opt = learner()
    for _ in range(8):
        loss_of(model).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()


@finds()
def accumulates() -> None:
    """Several passes to a step."""
    model, opt = learner()
    for n in range(12):
        loss_of(model).backward()
        if n % 3 == 2:
            opt.step()
            opt.zero_grad(set_to_none=False)


@finds()
def clears_by_hand() -> None:
    """In a way that moves no version counter."""
    model, opt = learner()
    for _ in range(8):
        loss_of(model).backward()
        opt.step()
        for each in model.parameters():
            assert each.grad is not None
            each.grad.data.zero_()


@finds("GS302")
def retains_for_nobody() -> None:
    """GS302."""
    model, opt = learner()
    for _ in range(6):
        opt.zero_grad()
        loss_of(model).backward(retain_graph=True)
        opt.step()


@finds()
def retains_for_another_pass() -> None:
    """Which needs it."""
    model, opt = learner()
    for _ in range(6):
        loss = loss_of(model)
        opt.zero_grad()
        torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
        loss.backward()
        opt.step()


@finds("GS301")
def keeps_losses() -> None:
    """GS301."""
    model, opt = learner()
    history = []
    for _ in range(12):
        loss = loss_of(model)
        opt.zero_grad()
        loss.backward()
        opt.step()
        history.append(loss)


@finds()
def keeps_a_few_losses() -> None:
    """Bounded."""
    model, opt = learner()
    recent: deque[torch.Tensor] = deque(maxlen=4)
    for _ in range(12):
        loss = loss_of(model)
        opt.zero_grad()
        loss.backward()
        opt.step()
        recent.append(loss)


@finds("GS307")
def trains_too_late() -> None:
    """GS307."""
    model, opt = learner()
    for _ in range(8):
        opt.zero_grad()
        loss_of(model).backward()
        opt.step()
        late = loss_of(model)
        late.backward()


def adversaries() -> tuple[nn.Module, nn.Module, torch.optim.Optimizer, torch.optim.Optimizer]:
    """A generator and a discriminator."""
    torch.manual_seed(0)
    generator, judge = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 1))
    return generator, judge, torch.optim.Adam(generator.parameters()), torch.optim.Adam(judge.parameters())


@finds("GS303")
def clears_the_judge_too_early() -> None:
    """GS303: the generator's pass leaves gradients in the discriminator, whose own step takes them too."""
    generator, judge, for_generator, for_judge = adversaries()
    for _ in range(8):
        fake = generator(torch.randn(6, 3))
        (judge(fake.detach()).mean() - judge(torch.randn(6, 4)).mean()).backward()
        for_judge.step()
        for_judge.zero_grad()
        for_generator.zero_grad()
        (-judge(fake).mean()).backward()
        for_generator.step()


@finds()
def clears_the_judge_in_time() -> None:
    """What the generator's pass leaves is gone before it is used."""
    generator, judge, for_generator, for_judge = adversaries()
    for _ in range(8):
        fake = generator(torch.randn(6, 3))
        for_judge.zero_grad()
        (judge(fake.detach()).mean() - judge(torch.randn(6, 4)).mean()).backward()
        for_judge.step()
        for_generator.zero_grad()
        (-judge(fake).mean()).backward()
        for_generator.step()


@finds()
def trains_an_encoder_with_two_heads() -> None:
    """Its gradients come from both losses, each of whose heads has stepped already: that is meant."""
    torch.manual_seed(0)
    encoder, one, two = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)
    optimizers = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (one, two, encoder)]
    for _ in range(8):
        one(encoder(torch.randn(6, 3))).mean().backward()
        optimizers[0].step()
        two(encoder(torch.randn(6, 3))).mean().backward()
        optimizers[1].step()
        optimizers[2].step()
        for each in optimizers:
            each.zero_grad()


def shares_an_encoder(*, clears: bool) -> None:
    """Two optimizers have it, and each has a loss of its own."""
    torch.manual_seed(0)
    encoder, one, two = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)
    first = torch.optim.SGD([*encoder.parameters(), *one.parameters()], lr=0.1)
    second = torch.optim.SGD([*encoder.parameters(), *two.parameters()], lr=0.1)
    for _ in range(8):
        first.zero_grad()
        one(encoder(torch.randn(6, 3))).mean().backward()
        first.step()
        if clears:
            second.zero_grad()
        else:
            two.zero_grad()
        two(encoder(torch.randn(6, 3))).mean().backward()
        second.step()


@finds()
def shares_an_encoder_and_clears() -> None:
    """Before each loss."""
    shares_an_encoder(clears=True)


@finds("GS303")
def shares_an_encoder_and_forgets() -> None:
    """GS303: the second step takes what the first one has taken already."""
    shares_an_encoder(clears=False)


@finds("GS301", "GS302")
def keeps_some_and_retains_others() -> None:
    """GS301 and GS302, which have nothing to do with one another."""
    generator, judge, for_generator, for_judge = adversaries()
    history = []
    for _ in range(12):
        for_judge.zero_grad()
        loss = judge(torch.randn(6, 4)).mean()
        loss.backward()
        for_judge.step()
        history.append(loss)
        for_generator.zero_grad()
        generator(torch.randn(6, 3)).square().mean().backward(retain_graph=True)
        for_generator.step()


@finds("GS301")
def keeps_what_it_retains() -> None:
    """GS301 alone: that the graphs are whole is one more thing about those that are kept."""
    model, opt = learner()
    history = []
    for _ in range(12):
        loss = loss_of(model)
        opt.zero_grad()
        loss.backward(retain_graph=True)
        opt.step()
        history.append(loss)


class TwoLosses(nn.Module):
    """A forward with a loss of its own beside the output."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.encoder, self.head = nn.Linear(4, 6), nn.Linear(6, 1)
        self.code_penalty: torch.Tensor | None = None

    def losses(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """By name."""
        code = self.encoder(x)
        return {"task_loss": self.head(code).square().mean(), "sparsity_loss": code.abs().mean()}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Notes one of them."""
        losses = self.losses(x)
        self.code_penalty = losses["sparsity_loss"]
        return losses["task_loss"]


@finds("GS304")
def leaves_an_item_out() -> None:
    """GS304: of a dict."""
    model = TwoLosses()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(6):
        losses = model.losses(torch.randn(5, 4))
        opt.zero_grad()
        losses["task_loss"].backward()
        opt.step()


@finds()
def sums_all_items_up() -> None:
    """And logs them one by one."""
    model = TwoLosses()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(6):
        losses = model.losses(torch.randn(5, 4))
        opt.zero_grad()
        torch.stack(list(losses.values())).sum().backward()
        opt.step()
        assert losses["sparsity_loss"].item() > 0


@finds()
def logs_the_other_items() -> None:
    """A metric is no loss."""
    model = TwoLosses()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(6):
        losses = model.losses(torch.randn(5, 4))
        opt.zero_grad()
        losses["task_loss"].backward()
        opt.step()
        assert all(value.item() >= 0 for value in losses.values())


@finds("GS304")
def leaves_an_attribute_out() -> None:
    """GS304: nothing reads it."""
    model = TwoLosses()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(6):
        loss = model(torch.randn(5, 4))
        opt.zero_grad()
        loss.backward()
        opt.step()


@finds("GS304")
def leaves_the_last_of_a_list_out() -> None:
    """GS304: its head is never trained."""
    torch.manual_seed(0)
    trunk, heads = nn.Linear(4, 6), nn.ModuleList(nn.Linear(6, 1) for _ in range(3))
    opt = torch.optim.SGD([*trunk.parameters(), *heads.parameters()], lr=0.1)
    for _ in range(6):
        features = trunk(torch.randn(5, 4))
        losses = [head(features).square().mean() for head in heads]
        opt.zero_grad()
        torch.stack(losses[:-1]).sum().backward()
        opt.step()


def cuts_off_what_feeds_a_compiled_head() -> None:
    """GS306."""
    torch.manual_seed(0)
    encoder, head = nn.Linear(4, 6), nn.Linear(6, 1)
    compiled = torch.compile(head, backend="eager")
    opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
    for _ in range(6):
        features = encoder(torch.randn(5, 4)).detach()
        opt.zero_grad()
        compiled(features).square().mean().backward()
        opt.step()


def validated(model: nn.Module) -> float:
    """Keeps its outputs until it returns."""
    outputs = []
    for _ in range(20):
        outputs.append(model(torch.randn(5, 4)))  # noqa: PERF401 # as people write it
    return torch.cat(outputs).mean().item()


@finds("GS301")
def validates_with_history() -> None:
    """GS301: the graphs are gone when the call is over, and no pass came for them."""
    model, opt = learner()
    for _ in range(4):
        opt.zero_grad()
        loss_of(model).backward()
        opt.step()
    assert validated(model)


@finds()
def validates_without_history() -> None:
    """The same, as it should be."""
    model, opt = learner()
    for _ in range(4):
        opt.zero_grad()
        loss_of(model).backward()
        opt.step()
    with torch.no_grad():
        assert validated(model)


def unrolled(model: nn.Module, count: int) -> torch.Tensor:
    """Many forwards, all of which the loss needs."""
    outputs = []
    for _ in range(count):
        outputs.append(loss_of(model))  # noqa: PERF401 # as people write it
    return torch.stack(outputs).mean()


@finds()
def back_propagates_what_it_collected() -> None:
    """Once in a while, much more than usual."""
    model, opt = learner()
    for n in range(12):
        opt.zero_grad()
        unrolled(model, 30 if n % 6 == 5 else 1).backward()
        opt.step()


@finds()
def collects_in_vain_at_the_end() -> None:
    """The last episode is long, and over before its pass: that is no habit."""
    model, opt = learner()
    for n in range(6):
        loss = unrolled(model, 40 if n == 5 else 2)
        if n < 5:
            opt.zero_grad()
            loss.backward()
            opt.step()


@finds("GS304")
def trains_with_a_loss_left_out() -> None:
    """GS304."""
    model, opt = learner()
    for _ in range(6):
        out = model(torch.randn(5, 4))
        main_loss = out.square().mean()
        side_loss = out.abs().mean()  # noqa: F841 # as it is forgotten
        opt.zero_grad()
        main_loss.backward()
        opt.step()


def average(kept: nn.Parameter) -> None:
    """As it is done by hand, behind the back of version counters too."""
    kept.data.mul_(0.9)


class Tempered(nn.Module):
    """A layer with a parameter that its own method reads, in one way or another."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.heat = nn.Parameter(torch.ones(()))
        self.way = way

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The layer's output, scaled."""
        scale: float | torch.Tensor = 1.0
        match self.way:
            case "number":
                scale = self.heat.exp().item()
            case "no_grad":
                with torch.no_grad():
                    scale = self.heat.exp()
            case "average":
                average(self.heat)
                scale = self.heat.detach()
            case "read":
                self.heat.item()
        out: torch.Tensor = self.layer(x) * scale
        return out


def tempers(way: str) -> None:
    """With it in the optimizer."""
    torch.manual_seed(0)
    model = Tempered(way)
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(8):
        out = model(torch.randn(5, 4))
        loss = out.square().mean() + (out - out.detach().mean()).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


@finds("GS306")
def tempers_by_a_number() -> None:
    """GS306, inside of the module itself."""
    tempers("number")


@finds("GS306")
def tempers_without_history() -> None:
    """GS306 too."""
    tempers("no_grad")


@finds()
def tempers_by_an_average() -> None:
    """The parameter is trained by hand."""
    tempers("average")


@finds()
def looks_at_the_temper() -> None:
    """It is not used; and that the output is detached beside the loss has nothing to do with it."""
    tempers("read")


@finds()
def has_no_use_for_the_temper() -> None:
    """Not even that."""
    tempers("unused")


class Encoding(nn.Module):
    """A method, made for looking at features, that records nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head, self.size = nn.Linear(4, 3), nn.Linear(3, 2), 0.0

    @torch.no_grad()
    def features(self, x: torch.Tensor) -> torch.Tensor:
        """What the body makes of it."""
        return torch.tanh(self.body(x))

    def embed(self, x: torch.Tensor) -> torch.Tensor:
        """All in one line."""
        return self.head(self.features(x))  # type: ignore[no-any-return] # as above

    def embed_with_a_look(self, x: torch.Tensor) -> torch.Tensor:
        """The features are looked at, and others are trained."""
        self.size = float(self.features(x).norm())
        return self.head(x[:, :3])  # type: ignore[no-any-return] # as above


def embeds(act: Callable[[Encoding, torch.Tensor], torch.Tensor]) -> None:
    """With all of it in the optimizer."""
    torch.manual_seed(0)
    model = Encoding()
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(8):
        loss = act(model, torch.randn(5, 4)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


@finds("GS306")
def embeds_by_a_method_without_history() -> None:
    """GS306: what is returned goes into the loss in the line that calls for it."""
    embeds(Encoding.embed)


@finds("GS306")
def embeds_in_the_line_of_the_loss() -> None:
    """GS306, a call further out."""
    embeds(lambda model, x: model.head(model.features(x)))


@finds()
def embeds_and_looks_at_features() -> None:
    """They do not lead to the loss."""
    embeds(Encoding.embed_with_a_look)


def decodes(*, targets: torch.Tensor | None) -> None:
    """A state that goes from iteration to iteration, and a loss in each."""
    torch.manual_seed(0)
    cell = nn.RNNCell(3, 3)
    opt = torch.optim.SGD(cell.parameters(), lr=0.01)
    goal = torch.zeros(2, 3)
    for _ in range(6):
        state = torch.zeros(2, 3)
        if targets is None:
            for _ in range(4):
                state = cell(torch.randn(2, 3), state)
                loss = (state - goal).square().mean()
        else:
            for t in range(4):
                state = cell(torch.randn(2, 3), state)
                loss = (state - targets[t]).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


@finds("GS304")
def decodes_for_the_last_token() -> None:
    """GS304: each iteration has a target of its own, and only the last one's is back-propagated."""
    decodes(targets=torch.randn(4, 2, 3))


@finds()
def refines_a_state() -> None:
    """All iterations have one target, and the last one's loss is what counts."""
    decodes(targets=None)


@finds("GS301")
def carries_a_state_on() -> None:
    """GS301: the state leads to all rollouts, and the updates are made on something else."""
    cell, head = nn.RNNCell(4, 4), nn.Linear(4, 1)
    opt = torch.optim.SGD(cell.parameters(), lr=0.01)
    state = torch.zeros(1, 4)
    for _ in range(8):
        before = state
        state = cell(torch.randn(1, 4), before)
        score = head(state)
        score = score.flatten()
        opt.zero_grad()
        cell(torch.randn(1, 4)).square().mean().backward()
        opt.step()
