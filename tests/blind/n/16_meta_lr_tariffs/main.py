"""Meta-SGD for electricity tariffs: learn an initialisation and inner learning rates.

A task is one household: given a few (temperature, hour) -> load readings, adapt the
network with one gradient step and predict the household's other readings. The
meta-gradient is averaged over a batch of households before each outer update.
"""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(505)


class Household:
    """Load = base + a * temperature + b * sin(hour), different for every household."""

    def __init__(self):
        self.base, self.a, self.b = torch.randn(3).tolist()

    def readings(self, n):
        x = torch.rand(n, 2) * 2 - 1
        y = self.base + self.a * x[:, :1] + self.b * torch.sin(3.14 * x[:, 1:])
        return x, y + 0.05 * torch.randn(n, 1)


class TariffNet(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.w1 = nn.Parameter(0.5 * torch.randn(hidden, 2))
        self.b1 = nn.Parameter(torch.zeros(hidden))
        self.w2 = nn.Parameter(0.3 * torch.randn(1, hidden))
        self.b2 = nn.Parameter(torch.zeros(1))

    def weights(self):
        return [self.w1, self.b1, self.w2, self.b2]

    @staticmethod
    def apply_weights(x, weights):
        w1, b1, w2, b2 = weights
        return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)


class MetaSGD(nn.Module):
    def __init__(self, net, init_lr=0.1):
        super().__init__()
        self.net = net
        raw = torch.log(torch.expm1(torch.tensor(init_lr)))
        self.raw_lr = nn.Parameter(raw.repeat(len(net.weights())))

    def inner_rates(self):
        """Positive learning rates, one for each weight tensor."""
        return F.softplus(self.raw_lr)

    def adapt(self, x, y, rates):
        weights = self.net.weights()
        loss = F.mse_loss(self.net.apply_weights(x, weights), y)
        grads = torch.autograd.grad(loss, weights, create_graph=True)
        return [w - lr * g for w, lr, g in zip(weights, rates, grads)]


class MetaTrainer:
    def __init__(self, tasks_per_batch=4, shots=6, lr=5e-3):
        self.tasks_per_batch, self.shots = tasks_per_batch, shots
        self.meta = MetaSGD(TariffNet())
        self.optimizer = torch.optim.Adam(self.meta.parameters(), lr=lr)

    def outer_step(self):
        self.optimizer.zero_grad()
        rates = self.meta.inner_rates()
        total = 0.0
        for _ in range(self.tasks_per_batch):
            home = Household()
            fast = self.meta.adapt(*home.readings(self.shots), rates)
            x_query, y_query = home.readings(16)
            query_loss = F.mse_loss(self.meta.net.apply_weights(x_query, fast), y_query)
            (query_loss / self.tasks_per_batch).backward()
            total += query_loss.item()
        self.optimizer.step()
        return total / self.tasks_per_batch


def main():
    trainer = MetaTrainer()
    for step in range(20):
        loss = trainer.outer_step()
        if step % 5 == 0:
            rates = [round(r, 4) for r in trainer.meta.inner_rates().tolist()]
            print(f"step {step:3d}  query mse {loss:.4f}  inner rates {rates}")


if __name__ == "__main__":
    main()
