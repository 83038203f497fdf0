"""One-box-per-cell detector on synthetic pictures (YOLO-like head, two anchors)."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

ANCHORS = torch.tensor([[6.0, 6.0], [12.0, 10.0]])


def make_scene(n, size, stride, gen):
    imgs = 0.1 * torch.randn(n, 1, size, size, generator=gen)
    boxes = torch.zeros(n, 4)
    for i in range(n):
        w, h = torch.randint(5, 14, (2,), generator=gen).tolist()
        x0 = torch.randint(0, size - w, (1,), generator=gen).item()
        y0 = torch.randint(0, size - h, (1,), generator=gen).item()
        imgs[i, 0, y0:y0 + h, x0:x0 + w] += 1.0
        boxes[i] = torch.tensor([x0 + w / 2, y0 + h / 2, w, h])
    cells = (boxes[:, :2] / stride).long()
    anchor = (boxes[:, 2:].prod(1) > 80).long()
    return imgs, boxes, cells, anchor


class Detect(nn.Module):
    def __init__(self, ch, stride, anchors):
        super().__init__()
        self.stride = stride
        self.na = len(anchors)
        self.no = 5
        self.register_buffer("anchors", anchors.view(1, self.na, 1, 1, 2))
        self.conv = nn.Conv2d(ch, self.na * self.no, 1)

    @staticmethod
    def make_grid(nx, ny):
        yv, xv = torch.meshgrid(torch.arange(ny), torch.arange(nx), indexing="ij")
        return torch.stack((xv, yv), 2).view(1, 1, ny, nx, 2).float()

    def forward(self, x):
        x = self.conv(x)
        bs, _, ny, nx = x.shape
        x = x.view(bs, self.na, self.no, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
        grid = self.make_grid(nx, ny)
        y = x.sigmoid()
        y[..., 0:2] = (y[..., 0:2] * 2.0 - 0.5 + grid) * self.stride
        y[..., 2:4] = (y[..., 2:4] * 2.0) ** 2 * self.anchors
        return y


class Detector(nn.Module):
    def __init__(self, stride=8):
        super().__init__()
        layers, ch = [], 1
        for out in (8, 16, 24):
            layers += [nn.Conv2d(ch, out, 3, stride=2, padding=1), nn.SiLU()]
            ch = out
        self.backbone = nn.Sequential(*layers)
        self.head = Detect(ch, stride, ANCHORS)

    def forward(self, img):
        return self.head(self.backbone(img))


def iou_of(a, b):
    a1, a2 = a[:, :2] - a[:, 2:] / 2, a[:, :2] + a[:, 2:] / 2
    b1, b2 = b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2
    wh = (torch.minimum(a2, b2) - torch.maximum(a1, b1)).clamp(min=0)
    inter = wh.prod(1)
    return inter / (a[:, 2:].prod(1) + b[:, 2:].prod(1) - inter + 1e-6)


def detection_loss(pred, boxes, cells, anchor):
    idx = torch.arange(len(boxes))
    mine = pred[idx, anchor, cells[:, 1], cells[:, 0]]
    iou = iou_of(mine[:, :4], boxes)
    size = F.smooth_l1_loss(mine[:, :4] / 8, boxes / 8)
    obj_target = torch.zeros_like(pred[..., 4])
    obj_target[idx, anchor, cells[:, 1], cells[:, 0]] = 1.0
    obj = F.binary_cross_entropy(pred[..., 4], obj_target)
    return (1 - iou).mean() + size + 4 * obj, iou.mean()


def main(opt):
    torch.manual_seed(opt.seed)
    gen = torch.Generator().manual_seed(opt.seed)
    model = Detector()
    optimizer = torch.optim.AdamW(model.parameters(), lr=opt.lr)
    for it in range(opt.iterations):
        imgs, boxes, cells, anchor = make_scene(opt.batch, 32, 8, gen)
        pred = model(imgs)
        loss, iou = detection_loss(pred, boxes, cells, anchor)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 10 == 0 or it == opt.iterations - 1:
            print(f"it {it:3d} loss {loss.item():.4f} iou {iou.item():.3f}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--iterations", type=int, default=50)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--seed", type=int, default=2)
    main(ap.parse_args())
