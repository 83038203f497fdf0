import torch
from torch import nn
from torch.autograd.function import once_differentiable


class _SwishFn(torch.autograd.Function):
    """x * sigmoid(beta * x); keeps the input only, not the sigmoid."""

    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x, beta)
        return x * torch.sigmoid(beta * x)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_out):
        x, beta = ctx.saved_tensors
        s = torch.sigmoid(beta * x)
        slope = s * (1 - s)
        grad_x = grad_out * (s + beta * x * slope)
        grad_beta = (grad_out * x * x * slope).sum()
        return grad_x, grad_beta


class Swish(nn.Module):
    def __init__(self, beta=1.0):
        super().__init__()
        self.beta = nn.Parameter(torch.tensor(beta))

    def forward(self, x):
        return _SwishFn.apply(x, self.beta)
