"""A pass that a hook asks for frees what the pass that runs the hook has yet to come to."""

from pathlib import Path

import pytest

from observe.failing_programs import diagnosis_of

_HOOK = """
w, x = torch.randn(4, requires_grad=True), torch.randn(4)
def watching(hidden, step):
    def hook(grad):
        with torch.enable_grad():
            torch.autograd.grad(hidden.square().sum(), w, retain_graph=%s)
    return hook
for step in range(80):
    hidden = (w * x).tanh()
    out = hidden * 2
    if step >= %s:
        out.register_hook(watching(hidden, step))
    loss = out.sum()
    loss.backward()
"""
# What is freed, and how sure that is.
PROGRAMS = {
    "a tensor's hook": ("hidden", "certain", _HOOK % (False, 0)),
    "a tensor's hook, after steps without it": ("hidden", "certain", _HOOK % (False, 60)),
    "a tensor's hook that kept the graph for many steps": ("hidden", "likely", _HOOK % ("step < 60", 0)),
    "a module's hook": (
        'features["h"]',
        "certain",
        """
net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
features = {}
def keep(module, args, output):
    features["h"] = output
def penalise(module, given, received):
    with torch.enable_grad():
        torch.autograd.grad(features["h"].norm(), net[0].weight)
net[1].register_forward_hook(keep)
net[2].register_full_backward_hook(penalise)
for x in torch.randn(3, 2, 4):
    loss = net(x).square().mean()
    loss.backward()
""",
    ),
    "a parameter's hook, with a backward": (
        "h",
        "certain",
        """
trunk, head, aux = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 2)
pending = []
def run_pending(parameter):
    for each in pending:
        each.backward()
    pending.clear()
head.weight.register_post_accumulate_grad_hook(run_pending)
for x in torch.randn(3, 2, 4):
    h = torch.tanh(trunk(x))
    pending.append(aux(h).square().mean())
    loss = head(h).square().mean()
    loss.backward()
""",
    ),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_hook_is_named_as_what_freed_it(what: str, tmp_path: Path) -> None:
    """The one fix is to keep the graph in the hook: a pass that runs goes through no other."""
    name, confidence, program = PROGRAMS[what]

    found = diagnosis_of(tmp_path, program)

    assert found.code == "GS107"
    assert "in a hook freed" in found.message
    assert found.culprit is not None
    assert (found.culprit.name, found.confidence) == (name, confidence)
    assert [each.kind for each in found.fixes] == ["retain-graph"]


def test_hook_with_a_graph_of_its_own_is_not_to_blame(tmp_path: Path) -> None:
    """What fails is a state that is carried on."""
    found = diagnosis_of(
        tmp_path,
        """
w, x = torch.randn(4, requires_grad=True), torch.randn(4)
def hook(grad):
    with torch.enable_grad():
        torch.autograd.grad((w * x).square().sum(), w)
state = torch.zeros(4)
for _ in range(3):
    state = (w * x + state).tanh()
    out = state * 2
    out.register_hook(hook)
    loss = out.sum()
    loss.backward()
""",
    )

    assert (found.code, found.culprit and found.culprit.name) == ("GS103", "state")
