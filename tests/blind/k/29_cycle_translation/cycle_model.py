"""Unpaired translation with cycle consistency (Zhu et al., 2017)."""
import itertools

import torch
import torch.nn.functional as F

from nets import discriminator, generator, set_requires_grad
from pool import ImagePool


def gan_loss(prediction, is_real):
    return F.mse_loss(prediction, torch.full_like(prediction, float(is_real)))


class CycleModel:
    def __init__(self, lambda_cycle=10.0, lambda_identity=0.5, lr=2e-4):
        self.G_AB, self.G_BA = generator(), generator()
        self.D_A, self.D_B = discriminator(), discriminator()
        self.pool_A, self.pool_B = ImagePool(12), ImagePool(12)
        self.lambda_cycle, self.lambda_identity = lambda_cycle, lambda_identity
        self.opt_G = torch.optim.Adam(
            itertools.chain(self.G_AB.parameters(), self.G_BA.parameters()), lr=lr, betas=(0.5, 0.999))
        self.opt_D = torch.optim.Adam(
            itertools.chain(self.D_A.parameters(), self.D_B.parameters()), lr=lr, betas=(0.5, 0.999))

    def forward(self, real_A, real_B):
        self.real_A, self.real_B = real_A, real_B
        self.fake_B = self.G_AB(real_A)
        self.rec_A = self.G_BA(self.fake_B)
        self.fake_A = self.G_BA(real_B)
        self.rec_B = self.G_AB(self.fake_A)

    def backward_G(self):
        idt = F.l1_loss(self.G_AB(self.real_B), self.real_B) + F.l1_loss(self.G_BA(self.real_A), self.real_A)
        adv = gan_loss(self.D_B(self.fake_B), True) + gan_loss(self.D_A(self.fake_A), True)
        cyc = F.l1_loss(self.rec_A, self.real_A) + F.l1_loss(self.rec_B, self.real_B)
        self.loss_G = adv + self.lambda_cycle * (cyc + self.lambda_identity * idt)
        self.loss_G.backward()

    def backward_D(self, net, real, fake):
        loss = 0.5 * (gan_loss(net(real), True) + gan_loss(net(fake.detach()), False))
        loss.backward()
        return loss

    def optimize(self, real_A, real_B):
        self.forward(real_A, real_B)

        set_requires_grad([self.D_A, self.D_B], False)
        self.opt_G.zero_grad()
        self.backward_G()
        self.opt_G.step()

        set_requires_grad([self.D_A, self.D_B], True)
        self.opt_D.zero_grad()
        self.loss_D_A = self.backward_D(self.D_A, self.real_A, self.pool_A.query(self.fake_A.detach()))
        self.loss_D_B = self.backward_D(self.D_B, self.real_B, self.pool_B.query(self.fake_B.detach()))
        self.opt_D.step()

    def losses(self):
        return {n: round(getattr(self, "loss_" + n).item(), 4) for n in ("G", "D_A", "D_B")}
