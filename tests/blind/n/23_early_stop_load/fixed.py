"""Day-ahead electricity load, with early stopping on a validation split."""
import torch
from torch import nn

torch.manual_seed(24)

hours = torch.arange(24 * 40).float()
load = torch.sin(hours * 6.2832 / 24) + 0.3 * torch.sin(hours * 6.2832 / 168) + 0.1 * torch.randn(len(hours))
X = load.unfold(0, 24, 1)[:-1]
y = load[24:]
X_train, y_train, X_val, y_val = X[:700], y[:700], X[700:], y[700:]

model = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
mse = nn.MSELoss()

history = []
best, bad_epochs, patience = float("inf"), 0, 4

for epoch in range(25):
    model.train()
    for idx in torch.randperm(len(X_train)).split(100):
        optimizer.zero_grad()
        loss = mse(model(X_train[idx]).squeeze(1), y_train[idx])
        loss.backward()
        optimizer.step()

    model.eval()
    with torch.no_grad():
        val_loss = mse(model(X_val).squeeze(1), y_val).item()
    history.append(val_loss)
    if val_loss < best:
        best, bad_epochs = val_loss, 0
    else:
        bad_epochs += 1
        if bad_epochs == patience:
            break

print(f"stopped after {epoch + 1} epochs, best {best:.4f}")
print("curve:", " ".join(f"{v:.3f}" for v in history))
