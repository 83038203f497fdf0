"""Multi-task regression, tasks balanced with GradNorm."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)

SCALES = torch.tensor([1.0, 4.0, 10.0])
x = torch.randn(384, 10)
mix = torch.randn(10, 6)
base = torch.tanh(x @ mix)
targets = [SCALES[k] * (base @ torch.randn(6, 2)) for k in range(3)]


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 48), nn.Tanh(), nn.Linear(48, 32), nn.Tanh())
        self.heads = nn.ModuleList(nn.Linear(32, 2) for _ in range(3))

    def forward(self, inputs):
        h = self.trunk(inputs)
        return [head(h) for head in self.heads]

    def last_shared(self):
        return self.trunk[2].weight


class GradNorm:
    """Chen et al. 2018: the weights equalise the norms of the tasks' gradients."""

    def __init__(self, tasks, alpha=0.5, lr=0.02):
        self.weights = torch.ones(tasks, requires_grad=True)
        self.optimizer = torch.optim.Adam([self.weights], lr=lr)
        self.alpha = alpha
        self.initial = None

    def norms(self, losses, shared):
        found = []
        for weight, loss in zip(self.weights, losses):
            (g,) = torch.autograd.grad(weight * loss, shared)
            found.append(g.norm())
        return torch.stack(found)

    def loss(self, losses, shared):
        values = torch.stack(losses).detach()
        if self.initial is None:
            self.initial = values
        ratio = values / self.initial
        rate = (ratio / ratio.mean()) ** self.alpha
        norms = self.norms(losses, shared)
        return F.l1_loss(norms, (norms.mean() * rate).detach(), reduction="sum")

    def renormalise(self):
        with torch.no_grad():
            self.weights.mul_(len(self.weights) / self.weights.sum())


model = Shared()
balance = GradNorm(3)
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)

for epoch in range(6):
    for index in torch.randperm(len(x)).split(64):
        outputs = model(x[index])
        losses = [F.mse_loss(out, target[index]) for out, target in zip(outputs, targets)]
        weight_loss = balance.loss(losses, model.last_shared())
        (weight_grad,) = torch.autograd.grad(weight_loss, balance.weights, retain_graph=True)

        total = (balance.weights.detach() * torch.stack(losses)).sum()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()

        balance.weights.grad = weight_grad
        balance.optimizer.step()
        balance.renormalise()
    shown = " ".join(f"{loss.item():.3f}" for loss in losses)
    weights = " ".join(f"{w:.2f}" for w in balance.weights.tolist())
    print(f"epoch {epoch}: losses {shown} | weights {weights} | weighted {total.item():.3f}")
