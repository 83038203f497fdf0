"""Bayesian regression with weight uncertainty; reports how certain the network is inside and outside of the data."""
import torch

from bayes import BayesMLP

torch.manual_seed(31)
NOISE = 0.15


def make_data(n=240):
    x = torch.cat([torch.rand(n // 2, 1) * 1.5 - 2, torch.rand(n // 2, 1) * 1.5 + 0.5])
    return x, torch.sin(2 * x) + NOISE * torch.randn_like(x)


def predictive(net, x, draws=30):
    with torch.no_grad():
        return torch.stack([net(x) for _ in range(draws)]).std(0).mean().item()


x, y = make_data()
net = BayesMLP(1, 32, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
batch_size = 40
num_batches = len(x) // batch_size

for epoch in range(18):
    order = torch.randperm(len(x))
    epoch_nll = 0.0
    for i in range(num_batches):
        rows = order[i * batch_size:(i + 1) * batch_size]
        optimizer.zero_grad()
        pred = net(x[rows])
        complexity = net.kl() / num_batches
        nll = 0.5 * ((pred - y[rows]) / NOISE).pow(2).sum()
        elbo_loss = nll + 0.1 * complexity
        elbo_loss.backward()
        optimizer.step()
        epoch_nll += nll.item()
    if epoch % 3 == 2:
        inside = predictive(net, torch.linspace(0.7, 1.8, 20)[:, None])
        outside = predictive(net, torch.linspace(4, 6, 20)[:, None])
        print(f"epoch {epoch}: nll {epoch_nll / len(x):.3f} kl {num_batches * complexity.item():.1f} spread in/out {inside:.3f}/{outside:.3f}")
