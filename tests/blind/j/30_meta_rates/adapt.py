"""Inner loop of the meta-learner: a few gradient steps with learned rates."""
import torch
from torch import nn
from torch.func import functional_call


class LearnedRates(nn.Module):
    """One positive step size for every parameter tensor and every inner step."""

    def __init__(self, names, steps, start=0.05):
        super().__init__()
        self.names = [n.replace(".", "_") for n in names]
        value = torch.full((steps,), start).log()
        self.log_rates = nn.ParameterDict({n: nn.Parameter(value.clone()) for n in self.names})

    def forward(self, name, step):
        return self.log_rates[name.replace(".", "_")][step].exp()


class Adapter:
    """Adapts a model to a task; the result is differentiable in model and rates."""

    def __init__(self, model, rates, loss_fn, steps):
        self.model, self.rates, self.loss_fn, self.steps = model, rates, loss_fn, steps

    def predict(self, weights, x):
        return functional_call(self.model, weights, (x,))

    def adapt(self, x, y):
        """Adapted weights, and the support loss before every inner step."""
        weights = dict(self.model.named_parameters())
        trail = []
        for step in range(self.steps):
            loss = self.loss_fn(self.predict(weights, x), y)
            trail.append(loss)
            gradients = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
            weights = {
                name: w - self.rates(name, step) * g
                for (name, w), g in zip(weights.items(), gradients)
            }
        return weights, trail
