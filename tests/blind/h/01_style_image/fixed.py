"""Neural style transfer on a small image: optimise the pixels so that their features look like the style picture."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)


class TinyVGG(nn.Module):
    """Stand-in for the first blocks of VGG19; the features after each relu are returned."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.conv3 = nn.Conv2d(16, 16, 3, padding=1)
        for conv in (self.conv1, self.conv2, self.conv3):
            nn.init.kaiming_normal_(conv.weight)

    def forward(self, img):
        a = F.relu(self.conv1(img))
        b = F.relu(self.conv2(F.avg_pool2d(a, 2)))
        c = F.relu(self.conv3(b))
        return [a, b, c]


def gram(feat):
    n, c, h, w = feat.shape
    flat = feat.view(c, h * w)
    return flat @ flat.t() / (c * h * w)


vgg = TinyVGG().eval()
content = torch.rand(1, 3, 24, 24)
style = torch.rand(1, 3, 24, 24).pow(2)
style[:, :, ::3] = 0.9

# what the result should match
with torch.no_grad():
    content_target = vgg(content)[2]
    style_targets = [gram(f) for f in vgg(style)]

image = content.clone().requires_grad_(True)
optimizer = torch.optim.Adam([image], lr=0.03)
style_weight = 50

for it in range(40):
    optimizer.zero_grad()
    feats = vgg(image)
    c_loss = F.mse_loss(feats[2], content_target)
    s_loss = sum(F.mse_loss(gram(f), g) for f, g in zip(feats, style_targets))
    loss = c_loss + style_weight * s_loss
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        image.clamp_(0, 1)
    if it % 10 == 0:
        print(f"iter {it:3d}  content {c_loss.item():.4f}  style {s_loss.item():.5f}  total {loss.item():.5f}")
