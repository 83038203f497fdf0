"""Sparse linear-nonlinear model of a neuron: Poisson likelihood and a group penalty on the filters."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class LNModel(nn.Module):
    def __init__(self, pixels, filters=6):
        super().__init__()
        self.filters = nn.Linear(pixels, filters)
        self.readout = nn.Linear(filters, 1)

    def forward(self, stimulus):
        return F.softplus(self.readout(torch.relu(self.filters(stimulus)))).squeeze(1)

    def group_penalty(self):
        """Sum of the norms of the pixels' weights: pixels that are not needed go to zero."""
        return self.filters.weight.norm(dim=0).sum()


def recordings(n, pixels=20):
    stimulus = torch.randn(n, pixels)
    rate = F.softplus(2 * torch.relu(stimulus[:, 3] + stimulus[:, 4]) + torch.relu(-stimulus[:, 9]))
    return stimulus, torch.poisson(rate)


def fit(model, stimulus, spikes, strength=0.05, epochs=15):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    poisson = nn.PoissonNLLLoss(log_input=False)
    for epoch in range(epochs):
        running = 0.0
        for rows in torch.randperm(len(spikes)).split(50):
            optimizer.zero_grad()
            likelihood = poisson(model(stimulus[rows]), spikes[rows])
            likelihood.backward()
            optimizer.step()

            penalty = strength * model.group_penalty()
            penalty.backward()
            running += likelihood.item() + penalty.item()
        if epoch % 3 == 2:
            yield epoch, running / (len(spikes) / 50)


def main():
    torch.manual_seed(18)
    stimulus, spikes = recordings(400)
    model = LNModel(20)
    for epoch, objective in fit(model, stimulus, spikes):
        size = model.filters.weight.detach().norm(dim=0)
        print(f"epoch {epoch}: objective {objective:.4f}  unused pixels' mean norm {size[10:].mean().item():.3f}")
    print("largest pixels:", size.argsort(descending=True)[:3].tolist())


if __name__ == "__main__":
    main()
