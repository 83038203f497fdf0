"""Adversarial training of a glyph classifier: half clean loss, half FGSM loss (Goodfellow 2014)."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(14)

EPS = 0.15
ALPHA = 0.5


class GlyphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.fc1 = nn.Linear(8 * 4 * 4, 32)
        self.fc2 = nn.Linear(32, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


def glyphs(n):
    y = torch.randint(0, 4, (n,))
    x = 0.3 * torch.rand(n, 1, 8, 8)
    for i, k in enumerate(y.tolist()):
        if k == 0:
            x[i, 0, 3:5, :] += 0.6
        elif k == 1:
            x[i, 0, :, 3:5] += 0.6
        elif k == 2:
            x[i, 0].fill_diagonal_(0.9)
        else:
            x[i, 0, 2:6, 2:6] += 0.6
    return x.clamp(0, 1), y


def fgsm(x, loss):
    """One signed-gradient step on the pixels."""
    (pixel_grad,) = torch.autograd.grad(loss, x, retain_graph=True)
    return (x + EPS * pixel_grad.sign()).clamp(0, 1).detach()


def train_step(net, opt, x, y):
    x = x.clone().requires_grad_(True)
    clean_loss = F.cross_entropy(net(x), y)
    x_adv = fgsm(x, clean_loss)
    adv_loss = F.cross_entropy(net(x_adv), y)
    loss = ALPHA * clean_loss + (1 - ALPHA) * adv_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
    return clean_loss.item(), adv_loss.item()


net = GlyphNet()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
images, labels = glyphs(160)

for epoch in range(4):
    for batch in torch.randperm(len(images)).split(40):
        clean, adv = train_step(net, opt, images[batch], labels[batch])
    print(f"epoch {epoch}  clean {clean:.3f}  adversarial {adv:.3f}")
