"""Shape classifier; a csv reports how much of the saliency lies on the object."""
import csv
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    def __init__(self, n=40, size=8):
        g = torch.Generator().manual_seed(330)
        self.rows = []
        for i in range(n):
            mask = torch.zeros(size, size)
            r, c = torch.randint(0, size - 3, (2,), generator=g).tolist()
            if i % 2:
                mask[r:r + 3, c + 1] = 1
                mask[r + 1, c:c + 3] = 1
            else:
                mask[r:r + 3, c:c + 3] = 1
            image = mask + 0.2 * torch.randn(size, size, generator=g)
            self.rows.append((image[None], mask, i % 2))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ELU(), nn.Conv2d(8, 8, 3, padding=1), nn.ELU())
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(self.conv(x).amax(dim=(2, 3)))


def saliency(logits, images):
    score = logits.gather(1, logits.argmax(1, keepdim=True)).sum()
    grad = torch.autograd.grad(score, images, retain_graph=True)[0]
    return grad.abs().squeeze(1)


def on_object(sal, mask):
    return ((sal * mask).sum((1, 2)) / (sal.sum((1, 2)) + 1e-8)).mean().item()


def main():
    torch.manual_seed(33)
    loader = DataLoader(Shapes(), batch_size=10, shuffle=True)
    net = CNN()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    os.makedirs("out", exist_ok=True)
    with open("out/saliency.csv", "w", newline="") as f:
        table = csv.writer(f)
        for epoch in range(8):
            total, focus = 0.0, 0.0
            for images, mask, labels in loader:
                images.requires_grad_()
                logits = net(images)
                share = on_object(saliency(logits, images), mask)
                loss = nn.functional.cross_entropy(logits, labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item() / len(loader)
                focus += share / len(loader)
            table.writerow([epoch, f"{total:.4f}", f"{focus:.4f}"])
            print(f"epoch {epoch}: loss {total:.4f} focus {focus:.3f}")


if __name__ == "__main__":
    main()
