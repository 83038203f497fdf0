"""Lesion segmentation with the soft Dice loss (Milletari et al.)."""
import torch
import torch.nn as nn

torch.manual_seed(21)


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU())
        self.mid = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(),
                                 nn.Upsample(scale_factor=2))
        self.head = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        a = self.down(x)
        return self.head(torch.cat([a, self.mid(a)], dim=1))


def soft_dice_loss(logits, target, eps=1.0):
    pred = torch.sigmoid(logits)
    inter = (pred * target).sum(dim=(1, 2, 3))
    size = pred.sum(dim=(1, 2, 3)) + target.sum(dim=(1, 2, 3))
    return 1 - ((2 * inter + eps) / (size + eps)).mean()


def make_batch(n=4):
    image = torch.randn(n, 1, 16, 16) * 0.3
    mask = torch.zeros(n, 1, 16, 16)
    for k in range(n):
        r, c = torch.randint(2, 10, (2,)).tolist()
        mask[k, 0, r:r + 4, c:c + 4] = 1
    return image + mask, mask


model = TinyUNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(30):
    image, mask = make_batch()
    loss = soft_dice_loss(model(image), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, round(loss.item(), 4))
