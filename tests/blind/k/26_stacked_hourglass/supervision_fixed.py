import torch.nn as nn


class IntermediateSupervision(nn.Module):
    """Heat-map regression, applied to the prediction of every stack and summed.

    Cells of a keypoint weigh more than the background.
    """

    def __init__(self, foreground=10.0):
        super().__init__()
        self.foreground = foreground

    def weighted_mse(self, heat, target):
        weight = 1 + self.foreground * (target > 0.1).float()
        return (weight * (heat - target) ** 2).mean()

    def forward(self, heatmaps, target):
        total, per_stack = 0.0, []
        for heat in heatmaps:
            loss = self.weighted_mse(heat, target)
            total = total + loss
            per_stack.append(loss.item())
        return total, per_stack
