"""One-scale YOLO-style head on toy images: one box per cell."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
GRID, CLASSES = 4, 3
ANCHOR = torch.tensor([1.2, 0.8])

backbone = nn.Sequential(
    nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(16, 5 + CLASSES, 1),
)
optimizer = torch.optim.Adam(backbone.parameters(), lr=3e-3)


def decode(raw):
    """raw (B, 5+C, G, G) -> boxes, objectness, class logits per cell."""
    p = raw.permute(0, 2, 3, 1).contiguous()
    xy = torch.sigmoid(p[..., 0:2])         # offset inside the cell
    wh = torch.exp(p[..., 2:4]) * ANCHOR    # size relative to the anchor
    return torch.cat([xy, wh], dim=-1), p[..., 4], p[..., 5:]


for step in range(20):
    images = torch.randn(4, 3, 16, 16)
    has_object = (torch.rand(4, GRID, GRID) < 0.3).float()
    true_box = torch.rand(4, GRID, GRID, 4)
    true_class = torch.randint(0, CLASSES, (4, GRID, GRID))

    boxes, obj, cls = decode(backbone(images))
    box_loss = (((boxes - true_box) ** 2).sum(-1) * has_object).sum() / has_object.sum()
    obj_loss = F.binary_cross_entropy_with_logits(obj, has_object)
    cls_loss = F.cross_entropy(cls.reshape(-1, CLASSES), true_class.reshape(-1))
    loss = box_loss + obj_loss + 0.5 * cls_loss

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(step, round(loss.item(), 4))
