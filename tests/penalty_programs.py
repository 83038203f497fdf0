"""Programs whose penalty is made of gradients without a graph, and programs in which they are data, or have one."""

_BEGIN = """\
import torch
from torch import nn, autograd
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
xs, ys = torch.randn(6, 8, 3), torch.randn(6, 8, 1)

"""


def _steps(body: str, before: str = "") -> str:
    """A program of six steps, with a loss that this code computes of `x` and `y`."""
    indented = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return f"{_BEGIN}{before}for x, y in zip(xs, ys):\n    opt.zero_grad()\n{indented}    opt.step()\n"


# The name of what has no graph, and the program.
CONSTANT = {
    "interpolated_in_a_function": (
        "gradients",
        _steps(
            """
loss = -net(x).mean() + net(y.expand(8, 3)).mean()
loss = loss + 10 * gradient_penalty(net, x, y.expand(8, 3))
loss.backward()
""",
            """\
def gradient_penalty(critic, real, fake):
    alpha = torch.rand(len(real), 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    scores = critic(mixed)
    gradients = autograd.grad(scores, mixed, torch.ones_like(scores), retain_graph=True)[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


""",
        ),
    ),
    "of_the_real_data_in_one_line": (
        "slope",
        _steps("""
x.requires_grad_()
scores = net(x)
(slope,) = torch.autograd.grad(scores.sum(), x, retain_graph=True)
(F.softplus(-scores).mean() + 0.5 * slope.square().sum(1).mean()).backward()
"""),
    ),
    "residual_of_a_second_derivative": (
        "u_tt",
        _steps("""
t = torch.rand(8, 3, requires_grad=True)
u_t = autograd.grad(net(t).sum(), t, create_graph=True)[0]
u_tt = autograd.grad(u_t.sum(), t)[0]
residual = u_tt + torch.sin(t.detach())
boundary = F.mse_loss(net(x), y)
loss = boundary + residual.pow(2).mean()
loss.backward()
"""),
    ),
    "one_of_several_terms": (
        "slope",
        _steps(
            """
parts = terms(net, x, y)
loss = parts["fit"] + 0.1 * parts["slope"]
loss.backward()
""",
            """\
def terms(field, x, y):
    x = x.clone().requires_grad_()
    (slope,) = autograd.grad(field(x).sum(), x)
    return {"fit": F.mse_loss(field(x), y), "slope": (slope.norm(dim=1) - 1).square().mean()}


""",
        ),
    ),
    "added_by_a_method": (
        "slope",
        _steps(
            "trainer.loss(x, y).backward()",
            """\
from torch.autograd import grad


class Trainer:
    def __init__(self, net, weight):
        self.net, self.weight = net, weight

    def penalty(self, x):
        x = x.clone().requires_grad_()
        slope = grad(self.net(x).sum(), x)[0]
        return slope.norm(dim=1).mean()

    def loss(self, x, y):
        total = F.mse_loss(self.net(x), y)
        total += self.weight * self.penalty(x)
        return total


trainer = Trainer(net, 0.1)
""",
        ),
    ),
    "norm_of_the_gradient_of_the_weights": (
        "slopes",
        _steps("""
fit = F.mse_loss(net(x), y)
slopes = autograd.grad(fit, list(net.parameters()), retain_graph=True)
loss = fit + 0.1 * sum(slope.square().sum() for slope in slopes)
loss.backward()
"""),
    ),
}

CLEAN = {
    "recorded": _steps("""
z = x.clone().requires_grad_()
slope = autograd.grad(net(z).sum(), z, create_graph=True)[0]
(F.mse_loss(net(x), y) + slope.square().mean()).backward()
"""),
    "recorded_by_place": _steps("""
z = x.clone().requires_grad_()
slope = autograd.grad(net(z).sum(), z, None, True, True)[0]
(F.mse_loss(net(x), y) + slope.square().mean()).backward()
"""),
    "recorded_by_a_setting": _steps("""
z = x.clone().requires_grad_()
slope = autograd.grad(net(z).sum(), z, create_graph=net.training)[0]
(F.mse_loss(net(x), y) + slope.square().mean()).backward()
"""),
    "detached_on_purpose": _steps("""
z = x.clone().requires_grad_()
slope = autograd.grad(net(z).sum(), z)[0]
size = slope.detach().norm()
(F.mse_loss(net(x), y) + size).backward()
"""),
    "number": _steps("""
z = x.clone().requires_grad_()
slope = autograd.grad(net(z).sum(), z)[0]
size = slope.norm().item()
(F.mse_loss(net(x), y) + size).backward()
"""),
    "not_recorded_on_purpose": _steps("""
z = x.clone().requires_grad_()
slope = autograd.grad(net(z).sum(), z)[0]
with torch.no_grad():
    size = slope.norm()
(F.mse_loss(net(x), y) + size).backward()
"""),
    "printed_and_not_trained": _steps("""
z = x.clone().requires_grad_()
slope = autograd.grad(net(z).sum(), z)[0]
fit = F.mse_loss(net(x), y)
total = fit + slope.square().mean()
print(total.item() > 0, slope.norm().item() > 0)
fit.backward()
"""),
    "weight_of_another_loss": _steps("""
features = net[:2](x)
first, second = F.mse_loss(net[2](features), y), features.square().mean()
one = autograd.grad(first, net[0].weight, retain_graph=True)[0]
other = autograd.grad(second, net[0].weight, retain_graph=True)[0]
weight = torch.clamp(one.norm() / (other.norm() + 1e-4), 0.0, 1e4)
loss = first + 0.8 * weight * second
loss.backward()
"""),
    "balanced_losses": _steps("""
fits = F.mse_loss(net(x), y), F.l1_loss(net(x), y)
norms = [autograd.grad(each, net[0].weight, retain_graph=True)[0].norm() for each in fits]
mean = (norms[0] + norms[1]) / 2
loss = (mean / norms[0]) * fits[0] + (mean / norms[1]) * fits[1] + 1.0
loss.backward()
"""),
    "attack_in_one_step": _steps("""
z = x.clone().requires_grad_()
slope = autograd.grad(F.mse_loss(net(z), y), z)[0]
loss = F.mse_loss(net(x), y) + F.mse_loss(net(x + 0.1 * slope.sign()), y) + 0.5
loss.backward()
"""),
    "attack_in_many_steps": _steps("""
attacked = x.clone()
for _ in range(2):
    attacked.requires_grad_()
    slope = autograd.grad(F.mse_loss(net(attacked), y), attacked)[0]
    attacked = (attacked + 0.1 * slope.sign()).clamp(-3, 3).detach()
loss = 0.5 * F.mse_loss(net(x), y) + 0.5 * F.mse_loss(net(attacked), y)
loss.backward()
"""),
    "attack_added_to_nothing_yet": _steps("""
z, weight = x.clone().requires_grad_(), net[0].weight
slope = autograd.grad(F.linear(z, weight).square().mean(), z)[0]
loss = 0
loss += F.linear(x + 0.1 * slope.sign(), weight).square().mean()
loss.backward()
"""),
    "meta_learning_of_first_order": _steps(
        """
weights = [net[0].weight, net[0].bias, net[2].weight, net[2].bias]
inner = F.mse_loss(run(x, weights), y)
slopes = autograd.grad(inner, weights)
fast = [weight - 0.1 * slope for weight, slope in zip(weights, slopes)]
loss = 0.0
loss += F.mse_loss(run(x.flip(0), fast), y)
loss = 0.01 + loss
loss.backward()
""",
        """\
def run(x, weights):
    return F.linear(torch.tanh(F.linear(x, weights[0], weights[1])), weights[2], weights[3])


""",
    ),
    "a_number_and_one_of_several_values": _steps(
        """
parts = terms(net, x, y)
offset = 0.5
loss = offset + parts["fit"]
loss.backward()
print(parts["slope"].norm().item())
""",
        """\
def terms(field, x, y):
    x = x.clone().requires_grad_()
    (slope,) = autograd.grad(field(x).sum(), x)
    return {"fit": F.mse_loss(field(x + 0.1 * slope), y), "slope": slope}


""",
    ),
    "surrogate_of_another_gradient": _steps("""
out = net(x)
score = out.detach().requires_grad_()
slope = autograd.grad((score - y).square().sum(), score)[0]
loss = (slope * out).sum() + 1.0
loss.backward()
"""),
    "target_from_a_teacher": _steps(
        """
z = x.clone().requires_grad_()
wanted = autograd.grad(teacher(z).sum(), z)[0]
mine = autograd.grad(net(z).sum(), z, create_graph=True)[0]
loss = F.mse_loss(net(x), y) + (mine - wanted).square().mean()
loss.backward()
""",
        "teacher = nn.Linear(3, 1)\n",
    ),
    "constant_of_another_network": _steps(
        """
z = x.clone().requires_grad_()
force = autograd.grad(fixed(z).sum(), z)[0]
loss = F.mse_loss(net(x), y) + force.norm()
loss.backward()
""",
        "fixed = nn.Linear(3, 1).requires_grad_(False)\n",
    ),
    "steps_by_hand": _steps("""
fit = F.mse_loss(net(x), y)
slopes = autograd.grad(fit, list(net.parameters()), retain_graph=True)
with torch.no_grad():
    for weight, slope in zip(net.parameters(), slopes):
        weight.data -= 0.001 * slope
loss = fit + 1e-6
loss.backward()
"""),
}
