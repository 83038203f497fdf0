# %% [markdown]
# Demand for 60 articles: how much does the price matter?  Five folds by store,
# one model per fold, ten SGD updates each.

# %%
import torch
import torch.nn as nn

torch.manual_seed(11)
N_STORES, N_ROWS, N_FEATURES = 5, 64, 6

features = torch.randn(N_STORES, N_ROWS, N_FEATURES)
true_w = torch.tensor([-1.2, 0.4, 0.0, 0.7, 0.1, -0.3])
sales = features @ true_w + 0.5 + 0.1 * torch.randn(N_STORES, N_ROWS)


# %%
def make_model():
    return nn.Sequential(nn.Linear(N_FEATURES, 12), nn.Tanh(), nn.Linear(12, 1))


def fold(k):
    keep = [s for s in range(N_STORES) if s != k]
    return (features[keep].reshape(-1, N_FEATURES), sales[keep].reshape(-1),
            features[k], sales[k])


huber = nn.SmoothL1Loss()

# %%
scores = []
for k in range(N_STORES):
    x_train, y_train, x_val, y_val = fold(k)
    model = make_model()
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    fold_loss = torch.zeros(())
    for update in range(10):
        rows = torch.randperm(len(x_train))[:48]
        prediction = model(x_train[rows]).squeeze(-1)
        loss = huber(prediction, y_train[rows])
        fold_loss += loss.detach()
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    with torch.no_grad():
        val = huber(model(x_val).squeeze(-1), y_val)
    scores.append(val.item())
    print(f"fold {k}: mean training loss of its ten updates "
          f"{fold_loss.item() / 10:.4f}, validation {val:.4f}")

# %%
print("cross-validated", sum(scores) / len(scores))
