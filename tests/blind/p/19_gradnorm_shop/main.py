"""Multi-task shop recommender (click, cart, rating) balanced with GradNorm.

The task weights are learned: a second optimizer moves them so that the
gradient norms of the weighted task losses at the last shared layer follow the
relative training rates. The networks themselves follow the weighted sum.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)

N_USERS, N_ITEMS, DIM = 60, 80, 16
TASKS = ("click", "cart", "rating")


class MultiTaskRecommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(N_USERS, DIM)
        self.items = nn.Embedding(N_ITEMS, DIM)
        self.trunk = nn.Sequential(nn.Linear(2 * DIM, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.heads = nn.ModuleDict({t: nn.Linear(32, 1) for t in TASKS})

    @property
    def last_shared(self):
        return self.trunk[2].weight

    def forward(self, u, i):
        h = self.trunk(torch.cat([self.users(u), self.items(i)], dim=-1))
        return {t: head(h).squeeze(-1) for t, head in self.heads.items()}


def task_losses(out, batch):
    return torch.stack([
        F.binary_cross_entropy_with_logits(out["click"], batch["click"]),
        F.binary_cross_entropy_with_logits(out["cart"], batch["cart"]),
        F.mse_loss(out["rating"], batch["rating"]),
    ])


def make_log(n):
    pu, qi = torch.randn(N_USERS, 4), torch.randn(N_ITEMS, 4)
    u, i = torch.randint(0, N_USERS, (n,)), torch.randint(0, N_ITEMS, (n,))
    affinity = (pu[u] * qi[i]).sum(-1)
    return {"u": u, "i": i, "click": (affinity > 0).float(), "cart": (affinity > 1.5).float(),
            "rating": 3.0 + affinity.clamp(-2, 2)}


log = make_log(768)
model = MultiTaskRecommender()
weights = nn.Parameter(torch.ones(len(TASKS)))
opt_model = torch.optim.Adam(model.parameters(), lr=1e-2)
opt_weights = torch.optim.Adam([weights], lr=5e-3)
initial = None
alpha = 0.8

for epoch in range(6):
    running = torch.zeros(len(TASKS))
    for idx in torch.randperm(768).split(96):
        batch = {k: v[idx] for k, v in log.items()}
        losses = task_losses(model(batch["u"], batch["i"]), batch)
        if initial is None:
            initial = losses.detach()

        opt_model.zero_grad()
        (weights * losses).sum().backward(retain_graph=True)

        norms = []
        for k in range(len(TASKS)):
            (g,) = torch.autograd.grad(weights[k] * losses[k], model.last_shared,
                                       retain_graph=True, create_graph=True)
            norms.append(g.norm())
        norms = torch.stack(norms)
        rate = losses.detach() / initial
        rate = rate / rate.mean()
        target = (norms.mean() * rate ** alpha).detach()
        balance = (norms - target).abs().sum()
        (weights.grad,) = torch.autograd.grad(balance, [weights])

        opt_model.step()
        opt_weights.step()
        with torch.no_grad():
            weights.mul_(len(TASKS) / weights.sum())
        running += losses.detach() * len(idx)
    shown = " ".join(f"{t} {v:.3f}" for t, v in zip(TASKS, (running / 768).tolist()))
    print(f"epoch {epoch}: {shown}  weights {[round(w, 2) for w in weights.tolist()]}")
