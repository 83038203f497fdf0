"""Unpaired translation of one-dimensional textures, with a history of fakes for the critic."""
import random

import torch
from torch import nn

from util.image_pool import ImagePool


class TranslationModel:
    def __init__(self, size):
        self.netG = nn.Sequential(nn.Linear(size, 12), nn.LeakyReLU(0.2), nn.Linear(12, size), nn.Tanh())
        self.netD = nn.Sequential(nn.Linear(size, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
        self.fake_pool = ImagePool(6)
        self.criterionGAN = nn.MSELoss()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=2e-3, betas=(0.5, 0.999))

    def set_input(self, a, b):
        self.real_A, self.real_B = a, b

    def set_requires_grad(self, net, flag):
        for p in net.parameters():
            p.requires_grad = flag

    def backward_G(self):
        self.fake_B = self.netG(self.real_A)
        pred = self.netD(self.fake_B)
        identity = nn.functional.l1_loss(self.netG(self.real_B), self.real_B)
        self.loss_G = self.criterionGAN(pred, torch.ones_like(pred)) + 0.5 * identity
        self.loss_G.backward()

    def backward_D(self):
        fake_B = self.fake_pool.query(self.fake_B.detach())
        pred_real, pred_fake = self.netD(self.real_B), self.netD(fake_B)
        loss_real = self.criterionGAN(pred_real, torch.ones_like(pred_real))
        loss_fake = self.criterionGAN(pred_fake, torch.zeros_like(pred_fake))
        self.loss_D = 0.5 * (loss_real + loss_fake)
        self.loss_D.backward()

    def optimize_parameters(self):
        self.set_requires_grad(self.netD, False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()
        self.set_requires_grad(self.netD, True)
        self.optimizer_D.zero_grad()
        self.backward_D()
        self.optimizer_D.step()


if __name__ == "__main__":
    torch.manual_seed(21)
    random.seed(21)
    model = TranslationModel(8)
    for it in range(15):
        phase = torch.rand(4, 1) * 6
        a = torch.sin(torch.arange(8) + phase)
        b = torch.sign(torch.sin(torch.arange(8) + torch.rand(4, 1) * 6))
        model.set_input(a, b)
        model.optimize_parameters()
        if it % 5 == 4:
            print(f"iters {it + 1} G {model.loss_G.item():.3f} D {model.loss_D.item():.3f}")
