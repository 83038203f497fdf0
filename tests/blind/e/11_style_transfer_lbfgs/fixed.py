"""Style transfer after Gatys on small images: optimise the pixels with L-BFGS."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def gram_matrix(feature):
    b, c, h, w = feature.shape
    flat = feature.view(b * c, h * w)
    return flat @ flat.t() / (b * c * h * w)


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()

    def forward(self, x):
        self.loss = F.mse_loss(x, self.target)
        return x


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super().__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, x):
        self.loss = F.mse_loss(gram_matrix(x), self.target)
        return x


def make_cnn():
    """Stands in for the first layers of a pretrained network."""
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 12, 3, padding=1), nn.ReLU(),
        nn.AvgPool2d(2), nn.Conv2d(12, 16, 3, padding=1), nn.ReLU(),
    ).eval()


def build_model(cnn, style, content, style_after=("conv_1", "conv_2", "conv_3"), content_after=("conv_2",)):
    model, style_losses, content_losses, n = nn.Sequential(), [], [], 0
    for layer in cnn.children():
        n += isinstance(layer, nn.Conv2d)
        name = f"conv_{n}" if isinstance(layer, nn.Conv2d) else f"{type(layer).__name__.lower()}_{n}"
        model.add_module(name, layer)
        if name in content_after:
            content_losses.append(ContentLoss(model(content)))
            model.add_module(f"content_{n}", content_losses[-1])
        if name in style_after:
            style_losses.append(StyleLoss(model(style)))
            model.add_module(f"style_{n}", style_losses[-1])
    return model, style_losses, content_losses


def transfer(cnn, style, content, steps=6, style_weight=1e4, content_weight=1.0):
    model, style_losses, content_losses = build_model(cnn, style, content)
    image = content.clone().requires_grad_(True)
    optimizer = torch.optim.LBFGS([image], max_iter=10)
    for step in range(steps):
        def closure():
            optimizer.zero_grad()
            model(image)
            style_score = sum(s.loss for s in style_losses) * style_weight
            content_score = sum(c.loss for c in content_losses) * content_weight
            total = style_score + content_score
            total.backward()
            return total

        loss = optimizer.step(closure)
        with torch.no_grad():
            image.clamp_(0, 1)
        print(f"step {step}: total {loss.item():.6f}")
    return image.detach()


if __name__ == "__main__":
    torch.manual_seed(2)
    ramp = torch.linspace(0, 1, 24)
    content = ramp.view(1, 1, 1, -1).expand(1, 3, 24, 24).contiguous()
    style = (torch.rand(1, 3, 24, 24) > 0.5).float()
    result = transfer(make_cnn(), style, content)
    print("pixel mean", round(result.mean().item(), 4))
