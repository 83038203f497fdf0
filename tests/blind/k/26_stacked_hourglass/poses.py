import torch

SIZE = 12


def gaussian(centre, sigma=1.0):
    axis = torch.arange(SIZE).float()
    gy = torch.exp(-(axis - centre[0]) ** 2 / (2 * sigma ** 2))
    gx = torch.exp(-(axis - centre[1]) ** 2 / (2 * sigma ** 2))
    return gy[:, None] * gx[None, :]


def batch(n=4):
    """Images with a bright dot and a dim dot; one heat map for each."""
    images, targets = [], []
    for _ in range(n):
        a, b = torch.randint(1, SIZE - 1, (2, 2)).float()
        ga, gb = gaussian(a), gaussian(b)
        images.append((ga + 0.4 * gb)[None] + 0.05 * torch.randn(1, SIZE, SIZE))
        targets.append(torch.stack([ga, gb]))
    return torch.stack(images), torch.stack(targets)
