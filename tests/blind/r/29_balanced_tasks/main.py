# House prices: one network, two tasks (price and days on the market).
# The weights of the tasks are set so that both pull equally hard on the
# shared layers: every step the norm of each task's gradient is measured there.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)

N_FEATURES = 10
BATCH = 32
ACCUM = 2            # micro batches per update
UPDATES = 60


class HouseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(
            nn.Linear(N_FEATURES, 48),
            nn.ReLU(),
            nn.Linear(48, 48),
            nn.ReLU(),
        )
        self.price = nn.Linear(48, 1)
        self.days = nn.Linear(48, 1)

    def forward(self, x):
        h = self.shared(x)
        return self.price(h).squeeze(1), self.days(h).squeeze(1)


def make_data(n):
    x = torch.randn(n, N_FEATURES)
    price = 3 * x[:, 0] + 2 * x[:, 1] * x[:, 2] + 0.1 * torch.randn(n)
    days = 0.3 * torch.sigmoid(x[:, 3] - x[:, 0]) + 0.02 * torch.randn(n)
    return x, price, days


def grad_norm(loss, params):
    grads = torch.autograd.grad(loss, params, retain_graph=True)
    return torch.sqrt(sum(g.pow(2).sum() for g in grads))


model = HouseNet()
shared_params = list(model.shared.parameters())
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

x_all, price_all, days_all = make_data(2048)
x_val, price_val, days_val = make_data(256)

weights = torch.ones(2)
first_losses = None
best_val = float("inf")
best_state = None

for update in range(UPDATES):
    optimizer.zero_grad()
    for micro in range(ACCUM):
        idx = torch.randint(0, len(x_all), (BATCH,))
        pred_price, pred_days = model(x_all[idx])
        loss_price = F.mse_loss(pred_price, price_all[idx])
        loss_days = F.mse_loss(pred_days, days_all[idx])

        if first_losses is None:
            first_losses = (loss_price.item(), loss_days.item())

        norms = torch.stack([
            grad_norm(loss_price, shared_params),
            grad_norm(loss_days, shared_params),
        ])
        target = norms.mean() / (norms + 1e-8)
        weights = 0.9 * weights + 0.1 * target
        weights = 2 * weights / weights.sum()

        (weights[0] * loss_price / ACCUM).backward(retain_graph=True)
        (weights[1] * loss_days / ACCUM).backward()
    optimizer.step()

    if (update + 1) % 15 == 0:
        model.eval()
        with torch.no_grad():
            vp, vd = model(x_val)
            val_price = F.mse_loss(vp, price_val)
            val_days = F.mse_loss(vd, days_val)
        model.train()
        relative = (val_price / first_losses[0] + val_days / first_losses[1]).item()
        if relative < best_val:
            best_val = relative
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        print(f"update {update + 1:3d}  price {val_price.item():.4f}  days {val_days.item():.5f}  "
              f"weights {weights[0].item():.3f} {weights[1].item():.3f}")

model.load_state_dict(best_state)
print("best relative validation loss:", round(best_val, 4))
