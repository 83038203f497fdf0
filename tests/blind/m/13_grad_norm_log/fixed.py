import torch
import torch.nn as nn

torch.manual_seed(1)

# concrete: mix -> strength
mix = torch.rand(150, 8)
strength = 30 + 20 * mix[:, :1] - 10 * mix[:, 3:4] ** 2 + torch.randn(150, 1)
strength = (strength - strength.mean()) / strength.std()

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def gradient_norm(objective):
    """Size of the gradient, for the log."""
    objective.backward()
    squares = [p.grad.pow(2).sum() for p in model.parameters()]
    return torch.stack(squares).sum().sqrt().item()


for epoch in range(10):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(mix), strength)
    norm = gradient_norm(loss)
    optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f} |g| {norm:.4f}")
