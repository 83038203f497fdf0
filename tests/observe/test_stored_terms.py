"""What a loss is made of, kept from an earlier step: state that is carried, a total, or the same loss once more."""

from pathlib import Path

import pytest

from observe.failing_programs import diagnosis_of

EPISODES = """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.saved = nn.Linear(4, 2), []

    def forward(self, x):
        return self.body(x).log_softmax(-1)

model = Policy()
opt = torch.optim.SGD(model.parameters(), 0.1)

def select():
    model.saved.append(model(torch.ones(4))[0])

def finish(rewards):
    opt.zero_grad()
    terms = []
    for log_prob, reward in zip(model.saved, rewards):
        terms.append(-log_prob * reward)
    loss = torch.stack(terms).sum() + 0.0
    loss.backward()
    opt.step()

"""
AT_ONCE = """
for episode in range(3):
    for _ in range(4):
        select()
    finish([1.0] * 4)
"""
IN_A_FUNCTION = f"""
def main():{AT_ONCE.replace(chr(10), chr(10) + "    ")}
main()
"""


@pytest.mark.parametrize("loop", [AT_ONCE, IN_A_FUNCTION], ids=["script", "function"])
def test_list_of_terms_that_is_never_emptied_is_carried_state(loop: str, tmp_path: Path) -> None:
    """The loss is a new one in every episode, and what it is made of is not: it was not back-propagated before.

    The body of the loop begins with another loop, and the episode that made the old terms is its first iteration.
    """
    diagnosis = diagnosis_of(tmp_path, EPISODES + loop)

    assert diagnosis.code == "GS103"
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == "model.saved"


def test_list_of_losses_that_are_added_up_again_is_a_total(tmp_path: Path) -> None:
    """All that the list holds are losses, and earlier passes took them."""
    program = """
net, losses = nn.Linear(3, 1), []
opt = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    for _ in range(2):
        losses.append(net(torch.ones(2, 3)).square().mean())
    opt.zero_grad()
    (torch.stack(losses).sum() / 2).backward()
    opt.step()
"""
    assert diagnosis_of(tmp_path, program).code == "GS105"


def test_term_that_two_losses_weigh_differently_is_shared(tmp_path: Path) -> None:
    """Neither contains the other."""
    program = """
encoder, head = nn.Linear(3, 3), nn.Linear(3, 1)
opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], 0.1)
code = encoder(torch.ones(2, 3))
penalty = code.square().mean()
first = 0.5 * penalty + head(code).mean()
second = 0.1 * penalty + head(torch.ones(2, 3)).mean()
first.backward()
second.backward()
"""
    assert diagnosis_of(tmp_path, program).code == "GS102"


@pytest.mark.parametrize("later", ["weight.exp() * (term - 0.5)", "weight * term", "term / weight.exp() + weight"])
def test_term_that_a_trained_weight_scales_is_no_part_of_a_total(later: str, tmp_path: Path) -> None:
    """A product of two graphs adds nothing up: a temperature is tuned by what the policy's own pass went through."""
    program = f"""
policy, weight = nn.Linear(3, 1), nn.Parameter(torch.zeros(()))
opt, own = torch.optim.SGD(policy.parameters(), 0.1), torch.optim.SGD([weight], 0.1)
term = policy(torch.ones(2, 3)).square().mean()
(weight.exp() * term + policy(torch.zeros(2, 3)).square().mean()).backward()
opt.step()
later = {later}
later.backward()
own.step()
"""
    assert diagnosis_of(tmp_path, program).code == "GS106"


def test_loss_that_was_computed_before_a_step_goes_by_its_own_name(tmp_path: Path) -> None:
    """Not by that of a network whose output was handed on at once."""
    program = """
class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)

    def forward(self, x):
        return self.body(x).tanh()

actor, critic = Actor(), nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
of_actor, of_critic = (torch.optim.SGD(each.parameters(), 0.1) for each in (actor, critic))
for _ in range(2):
    seen = torch.ones(2, 3)
    critic_loss = critic(seen).square().mean()
    actor_loss = -critic(actor(seen)).mean()
    of_critic.zero_grad()
    critic_loss.backward()
    of_critic.step()
    of_actor.zero_grad()
    actor_loss.backward()
"""
    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.code == "GS201"
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == "actor_loss"


def test_what_was_kept_below_the_pass_goes_by_the_name_it_is_kept_under(tmp_path: Path) -> None:
    """The variable that had it when it was freed has another value in the next step."""
    program = """
class Memory:
    previous = None

def remember(value):
    Memory.previous = value

net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.ones(3, 4, 3):
    scores = net(x).tanh()
    loss = scores.pow(2).mean()
    if Memory.previous is not None:
        loss = loss + F.mse_loss(scores, Memory.previous)
    opt.zero_grad()
    loss.backward()
    opt.step()
    remember(scores)
"""
    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.code == "GS103"
    assert diagnosis.culprit is not None
    assert diagnosis.culprit.name == "Memory.previous"
