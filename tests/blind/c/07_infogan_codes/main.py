"""InfoGAN on two-dimensional points: generator, discriminator and a code reader."""
import itertools

import torch
from torch import nn

from nets import CodeReader, Discriminator, Generator


def real_points(count, random):
    which = torch.randint(2, (count, 1), generator=random).float()
    return torch.randn(count, 2, generator=random) * 0.1 + which * 2 - 1


class InfoGAN:
    def __init__(self, noise=4, codes=2):
        self.noise, self.codes = noise, codes
        self.generator, self.body = Generator(noise + codes), Discriminator()
        self.reader = CodeReader(codes)
        self.optim_d = torch.optim.Adam(self.body.parameters(), lr=5e-3)
        self.optim_g = torch.optim.Adam(self.generator.parameters(), lr=5e-3)
        self.optim_info = torch.optim.Adam(
            itertools.chain(self.generator.parameters(), self.reader.parameters()), lr=5e-3
        )
        self.bce = nn.BCEWithLogitsLoss()

    def draw(self, count, random):
        noise = torch.randn(count, self.noise, generator=random)
        code = torch.randint(self.codes, (count,), generator=random)
        return torch.cat([noise, nn.functional.one_hot(code, self.codes).float()], 1), code

    def train_discriminator(self, real, fake):
        self.optim_d.zero_grad()
        on_real, on_fake = self.body(real), self.body(fake)
        loss = self.bce(on_real, torch.ones_like(on_real)) + self.bce(on_fake, torch.zeros_like(on_fake))
        loss.backward()
        self.optim_d.step()
        return loss

    def train_generator(self, fake):
        self.optim_g.zero_grad()
        score = self.body(fake)
        loss = self.bce(score, torch.ones_like(score))
        loss.backward()
        self.optim_g.step()
        return loss

    def train_codes(self, z, code):
        self.optim_info.zero_grad()
        loss = nn.functional.cross_entropy(self.reader(self.generator(z)), code)
        loss.backward()
        self.optim_info.step()
        return loss


def main():
    torch.manual_seed(7)
    random = torch.Generator().manual_seed(77)
    gan = InfoGAN()
    for step in range(10):
        z, code = gan.draw(16, random)
        fake = gan.generator(z)
        d = gan.train_discriminator(real_points(16, random), fake)
        g = gan.train_generator(fake)
        info = gan.train_codes(z, code)
        if step % 5 == 4:
            print(f"{step + 1}: d {d.item():.3f} g {g.item():.3f} info {info.item():.3f}")


if __name__ == "__main__":
    main()
