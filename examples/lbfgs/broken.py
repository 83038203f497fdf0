"""Broken: the closure of LBFGS is called many times, on one forward pass.

LBFGS looks at several points before it decides on a step, and calls the closure for each. The closure must therefore
compute everything that depends on the weights. Here the prediction is made outside: the first call back-propagates and
frees it, the second wants it again. Look for what the closure uses and does not compute.
"""

import torch
from torch import Tensor, nn


class Decay(nn.Module):
    """The sum of a few exponentials, with amplitudes and rates to be found."""

    def __init__(self, terms: int) -> None:
        super().__init__()
        self.amplitudes = nn.Parameter(torch.ones(terms))
        self.log_rates = nn.Parameter(torch.linspace(-1, 1, terms))

    def forward(self, times: Tensor) -> Tensor:
        """The curve at these times."""
        return (self.amplitudes * torch.exp(-self.log_rates.exp() * times[:, None])).sum(dim=1)


def measured(times: Tensor) -> Tensor:
    """What an experiment gave."""
    return 2.0 * torch.exp(-0.5 * times) + 0.7 * torch.exp(-3.0 * times) + 0.01 * torch.randn(len(times))


def fit(rounds: int) -> None:
    """A few rounds, of up to five calls of the closure each."""
    torch.manual_seed(0)
    times = torch.linspace(0, 5, 100)
    observed = measured(times)
    model = Decay(terms=2)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)
    for number in range(rounds):
        predicted = model(times)

        def closure() -> Tensor:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(predicted, observed)
            loss.backward()
            return loss

        loss = optimizer.step(closure)
        print(f"round {number + 1}: loss {loss.item():.6f}")
    print("rates", [round(rate, 3) for rate in model.log_rates.exp().tolist()])


if __name__ == "__main__":
    fit(rounds=8)
