import torch
import torch.nn as nn
import torch.nn.functional as F


def unit(d):
    return d / (d.norm(dim=1, keepdim=True) + 1e-8)


class VATLoss(nn.Module):
    """Local distributional smoothness (Miyato et al.): the prediction is a fixed target, the disturbed one must not differ."""

    def __init__(self, xi, eps):
        super().__init__()
        self.xi, self.eps = xi, eps

    def forward(self, model, x, logits):
        target = logits.softmax(1)
        d = unit(torch.randn_like(x)).requires_grad_()
        disturbed = F.log_softmax(model(x + self.xi * d), dim=1)
        F.kl_div(disturbed, target, reduction="batchmean").backward()
        worst = unit(d.grad)
        model.zero_grad()
        answer = F.log_softmax(model(x + self.eps * worst), dim=1)
        return F.kl_div(answer, target, reduction="batchmean")
