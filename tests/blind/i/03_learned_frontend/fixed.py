"""Small denoiser for sensor windows. A 1d convolution brings the raw channels to the shape the network wants."""
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 48), nn.SiLU(), nn.Linear(48, width))

    def forward(self, x):
        return x + self.net(x)


class Denoiser(nn.Module):
    def __init__(self, width=16, depth=2):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.out = nn.Linear(width, 16)

    def forward(self, x):
        return self.out(self.blocks(x))


class Trainer:
    """Trains the denoiser together with the adapter in front of it."""

    def __init__(self, model, adapter, noisy, clean, lr=3e-3, batch=20):
        self.model, self.adapter = model, adapter
        self.noisy, self.clean = noisy, clean
        self.batch = batch
        self.optimizer = torch.optim.Adam([*model.parameters(), *adapter.parameters()], lr=lr)

    def batches(self):
        for rows in torch.randperm(len(self.clean)).split(self.batch):
            yield torch.tanh(self.adapter(self.noisy[rows])).squeeze(1), self.clean[rows]

    def train(self, epochs):
        for epoch in range(epochs):
            total = 0.0
            for x, target in self.batches():
                loss = (self.model(x) - target).square().mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(x)
            print(f"epoch {epoch}: loss {total / len(self.clean):.4f}")


def sensor_windows(n, channels=3, length=16):
    t = torch.linspace(0, 6.28, length)
    clean = torch.sin(t + 6.28 * torch.rand(n, 1))
    gain = torch.tensor([0.9, -0.6, 0.4]).view(1, channels, 1)
    return gain * clean[:, None] + 0.3 * torch.randn(n, channels, length), clean


if __name__ == "__main__":
    torch.manual_seed(10)
    noisy, clean = sensor_windows(160)
    adapter = nn.Conv1d(3, 1, kernel_size=3, padding=1)
    Trainer(Denoiser(), adapter, noisy, clean).train(epochs=8)
