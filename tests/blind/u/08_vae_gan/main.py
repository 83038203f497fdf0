"""VAE/GAN on small bar pictures: each of the three networks is trained by a loss of its own."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from networks import Critic, Decoder, Encoder, reparameterize


@dataclass
class Settings:
    side: int = 8
    n: int = 160
    batch: int = 32
    epochs: int = 4
    latent: int = 4
    hidden: int = 64
    gamma: float = 10.0
    beta: float = 0.02
    lr: float = 3e-3
    seed: int = 21


def bars(cfg, gen):
    pics = torch.zeros(cfg.n, cfg.side, cfg.side)
    where = torch.randint(0, cfg.side, (cfg.n,), generator=gen)
    upright = torch.rand(cfg.n, generator=gen) > 0.5
    for i in range(cfg.n):
        if upright[i]:
            pics[i, :, where[i]] = 1.0
        else:
            pics[i, where[i], :] = 1.0
    return pics.view(cfg.n, -1)


class VAEGAN:
    def __init__(self, cfg):
        self.cfg = cfg
        dim = cfg.side ** 2
        self.enc = Encoder(dim, cfg.hidden, cfg.latent)
        self.dec = Decoder(cfg.latent, cfg.hidden, dim)
        self.critic = Critic(dim, cfg.hidden)
        self.nets = {"enc": self.enc, "dec": self.dec, "critic": self.critic}
        self.params = {k: list(m.parameters()) for k, m in self.nets.items()}
        self.opts = {k: torch.optim.Adam(p, lr=cfg.lr, betas=(0.5, 0.99)) for k, p in self.params.items()}

    def losses(self, real, gen):
        mean, log_var = self.enc(real)
        recon = self.dec(reparameterize(mean, log_var, gen))
        fake = self.dec(torch.randn(len(real), self.cfg.latent, generator=gen))

        real_logit, real_feat = self.critic(real)
        recon_logit, recon_feat = self.critic(recon)
        fake_logit, _ = self.critic(fake)

        ones, zeros = torch.ones(len(real)), torch.zeros(len(real))
        kl = -0.5 * (1 + log_var - mean.pow(2) - log_var.exp()).sum(1).mean()
        similarity = F.mse_loss(recon_feat, real_feat) + 4 * F.mse_loss(recon, real)
        gan = (F.binary_cross_entropy_with_logits(real_logit, ones)
               + 0.5 * F.binary_cross_entropy_with_logits(recon_logit, zeros)
               + 0.5 * F.binary_cross_entropy_with_logits(fake_logit, zeros))
        return {
            "enc": self.cfg.beta * kl + similarity,
            "dec": self.cfg.gamma * similarity - gan,
            "critic": gan,
        }

    def update(self, real, gen):
        losses = self.losses(real, gen)
        for opt in self.opts.values():
            opt.zero_grad()
        losses["enc"].backward(inputs=self.params["enc"], retain_graph=True)
        losses["dec"].backward(inputs=self.params["dec"], retain_graph=True)
        losses["critic"].backward(inputs=self.params["critic"])
        for opt in self.opts.values():
            opt.step()
        return {k: v.item() for k, v in losses.items()}


def main(cfg):
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    data = bars(cfg, gen)
    model = VAEGAN(cfg)
    for epoch in range(cfg.epochs):
        order = torch.randperm(cfg.n, generator=gen)
        means = dict.fromkeys(model.nets, 0.0)
        steps = 0
        for idx in order.split(cfg.batch):
            for k, v in model.update(data[idx], gen).items():
                means[k] += v
            steps += 1
        with torch.no_grad():
            err = F.mse_loss(model.dec(model.enc(data)[0]), data).item()
        print(f"epoch {epoch} " + " ".join(f"{k} {v / steps:.3f}" for k, v in means.items()) + f" mse {err:.4f}")


if __name__ == "__main__":
    main(Settings())
