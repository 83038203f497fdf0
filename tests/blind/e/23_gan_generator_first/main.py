"""A small GAN for a correlated Gaussian; the generator moves first in every iteration."""
import torch
import torch.nn as nn


class GANTrainer:
    def __init__(self, latent=4, hidden=24, lr_g=2e-3, lr_d=4e-3):
        self.latent = latent
        self.G = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, 2))
        self.D = nn.Sequential(nn.Linear(2, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, 1))
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=lr_g, betas=(0.5, 0.99))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=lr_d, betas=(0.5, 0.99))
        self.bce = nn.BCEWithLogitsLoss()
        self.log = {"g": [], "d": [], "d_acc": []}

    def generate(self, count):
        return self.G(torch.randn(count, self.latent))

    def train_batch(self, real):
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        self.opt_g.zero_grad()
        self.opt_d.zero_grad()

        fake = self.generate(len(real))
        g_loss = self.bce(self.D(fake), ones)
        g_loss.backward()
        self.opt_g.step()

        real_logits = self.D(real)
        fake_logits = self.D(fake.detach())
        d_loss = 0.5 * (self.bce(real_logits, ones) + self.bce(fake_logits, zeros))
        d_loss.backward()
        self.opt_d.step()

        with torch.no_grad():
            correct = ((real_logits > 0).float().mean() + (fake_logits < 0).float().mean()) / 2
        for key, value in (("g", g_loss), ("d", d_loss), ("d_acc", correct)):
            self.log[key].append(value.item())

    def fit(self, data, epochs, batch_size=64):
        for epoch in range(epochs):
            for index in torch.randperm(len(data)).split(batch_size):
                self.train_batch(data[index])
            if epoch % 4 == 3:
                self.report(epoch, len(data) // batch_size)

    def report(self, epoch, last):
        means = {key: sum(values[-last:]) / last for key, values in self.log.items()}
        with torch.no_grad():
            fake = self.generate(500)
        print(f"epoch {epoch}: " + " ".join(f"{key} {value:.3f}" for key, value in means.items())
              + f" | fake mean {fake.mean(0).norm().item():.3f} cov {torch.cov(fake.T)[0, 1].item():.3f}")


if __name__ == "__main__":
    torch.manual_seed(29)
    mixing = torch.tensor([[1.0, 0.0], [0.8, 0.6]])
    data = torch.randn(640, 2) @ mixing.T + torch.tensor([1.0, -0.5])
    GANTrainer().fit(data, epochs=16)
