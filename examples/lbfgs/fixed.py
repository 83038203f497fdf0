"""Fixed: the closure runs the model itself.

Every call sees the weights as they are at that moment. With `retain_graph=True` instead, PyTorch would stop with the
in-place error: the prediction belongs to weights that have moved since.
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

        def closure() -> Tensor:
            optimizer.zero_grad()
            predicted = model(times)
            loss = nn.functional.mse_loss(predicted, observed)
            loss.backward()
            return loss

        loss = optimizer.step(closure)
        print(f"round {number + 1}: loss {loss.item():.6f}")
    print("rates", [round(rate, 3) for rate in model.log_rates.exp().tolist()])


if __name__ == "__main__":
    fit(rounds=8)
