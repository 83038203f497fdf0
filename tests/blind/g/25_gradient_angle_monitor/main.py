"""Two-task training that reports, every few steps, how well the tasks' gradients agree on the shared layers."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoTasks(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(12, 40), nn.ReLU(), nn.Linear(40, 24), nn.ReLU())
        self.depth = nn.Linear(24, 1)
        self.kind = nn.Linear(24, 3)

    def forward(self, x):
        h = self.shared(x)
        return self.depth(h).squeeze(1), self.kind(h)


def flat(gradients):
    return torch.cat([g.reshape(-1) for g in gradients])


def angle(first, second, parameters):
    a = flat(torch.autograd.grad(first, parameters, retain_graph=True))
    b = flat(torch.autograd.grad(second, parameters, retain_graph=True))
    return F.cosine_similarity(a, b, dim=0).item()


def data(n):
    x = torch.randn(n, 12)
    return x, x[:, 0] * 2 + x[:, 1].abs(), (x[:, 2:5] + x[:, :1]).argmax(1)


def main():
    torch.manual_seed(73)
    x, depth, kind = data(480)
    model = TwoTasks()
    shared = list(model.shared.parameters())
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    step, angles = 0, []
    for epoch in range(5):
        sums = [0.0, 0.0]
        for rows in torch.randperm(480).split(60):
            d, k = model(x[rows])
            depth_loss = F.smooth_l1_loss(d, depth[rows])
            kind_loss = F.cross_entropy(k, kind[rows])
            if step % 4 == 0:
                angles.append(angle(depth_loss, kind_loss, shared))
            optimizer.zero_grad()
            depth_loss.backward(retain_graph=True)
            kind_loss.backward()
            optimizer.step()
            step += 1
            sums[0] += depth_loss.item() / 8
            sums[1] += kind_loss.item() / 8
        print(f"epoch {epoch}: depth {sums[0]:.4f} kind {sums[1]:.4f} cosine {angles[-1]:+.3f}")


if __name__ == "__main__":
    main()
