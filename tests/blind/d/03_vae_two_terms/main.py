"""Beta-VAE on little binary pictures."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from vae import BetaVAE


def kl_annealing(epoch, warmup=3, top=0.5):
    return top * min(1.0, (epoch + 1) / warmup)


def bars(n, side=6):
    pictures = torch.zeros(n, side, side)
    for i in range(n):
        if i % 2:
            pictures[i, int(torch.randint(side, ()))] = 1
        else:
            pictures[i, :, int(torch.randint(side, ()))] = 1
    return pictures.flatten(1)


class VAETrainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.history = {"bce": [], "kld": []}

    def loss_terms(self, x):
        recon, mu, logvar = self.model(x)
        bce = F.binary_cross_entropy_with_logits(recon, x, reduction="sum") / len(x)
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
        return bce, kld

    def run_epoch(self, batches, beta):
        for x in batches:
            self.opt.zero_grad()
            bce, kld = self.loss_terms(x)
            weighted = beta * kld
            bce.backward()
            weighted.backward()
            nn.utils.clip_grad_value_(self.model.parameters(), 5.0)
            self.opt.step()
            self.history["bce"].append(bce.item())
            self.history["kld"].append(kld.item())


def main():
    torch.manual_seed(3)
    batches = bars(48).split(12)
    trainer = VAETrainer(BetaVAE(36, 16, 3), lr=0.01)
    for epoch in range(5):
        trainer.run_epoch(batches, kl_annealing(epoch))
        print(epoch, f"bce {trainer.history['bce'][-1]:.2f}", f"kld {trainer.history['kld'][-1]:.3f}")


main()
