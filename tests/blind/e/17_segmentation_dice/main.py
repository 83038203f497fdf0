"""Segment bright discs in noisy images with a small convolutional network."""
import torch
import torch.nn as nn

from losses import dice_loss, dice_score, pixel_accuracy


def discs(count, size=24):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    centre = torch.randint(6, size - 6, (count, 2))
    radius = torch.randint(3, 7, (count,))
    dist = (yy - centre[:, 0, None, None]).pow(2) + (xx - centre[:, 1, None, None]).pow(2)
    masks = (dist < radius[:, None, None].pow(2)).float().unsqueeze(1)
    return masks + 0.5 * torch.randn_like(masks), masks


class SmallUNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU())
        self.middle = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Upsample(scale_factor=2))
        self.up = nn.Conv2d(2 * width, 1, 3, padding=1)

    def forward(self, x):
        skip = self.down(x)
        return self.up(torch.cat([skip, self.middle(skip)], dim=1))


def run_epoch(model, images, masks, optimizer=None, batch_size=20):
    training = optimizer is not None
    model.train(training)
    stats = {"loss": 0.0, "dice": 0.0, "pixels": 0.0}
    order = torch.randperm(len(images)) if training else torch.arange(len(images))
    with torch.set_grad_enabled(training):
        for index in order.split(batch_size):
            logits = model(images[index])
            loss = dice_loss(logits, masks[index])
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            share = len(index) / len(images)
            stats["loss"] += loss.item() * share
            stats["dice"] += dice_score(logits, masks[index]).item() * share
            stats["pixels"] += pixel_accuracy(logits, masks[index]).item() * share
    return stats


def show(title, stats):
    print(title, " ".join(f"{key} {value:.4f}" for key, value in stats.items()))


if __name__ == "__main__":
    torch.manual_seed(90)
    images, masks = discs(120)
    model = SmallUNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(5):
        show(f"train {epoch}:", run_epoch(model, images[:100], masks[:100], optimizer))
        show(f"valid {epoch}:", run_epoch(model, images[100:], masks[100:]))
