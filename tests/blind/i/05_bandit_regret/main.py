"""Online click model: every visitor is scored, the outcome is seen, and the model learns at once."""
import torch
import torch.nn.functional as F

torch.manual_seed(35)

FEATURES = 8
true_weights = torch.randn(FEATURES)


def visitors(n):
    for _ in range(n):
        x = torch.randn(FEATURES)
        yield x, torch.bernoulli(torch.sigmoid(2 * (x @ true_weights)))


hidden = torch.nn.Linear(FEATURES, 12)
output = torch.nn.Linear(12, 1)
optimizer = torch.optim.SGD([*hidden.parameters(), *output.parameters()], lr=0.1)


def predict(x):
    return output(torch.relu(hidden(x))).squeeze(-1)


cumulative_loss = 0.0
hits = 0
curve = []

for count, (x, clicked) in enumerate(visitors(500), 1):
    logit = predict(x)
    hits += int((logit > 0) == (clicked > 0.5))

    # progressive validation: loss of this visitor before learning from it
    cumulative_loss += F.binary_cross_entropy_with_logits(logit, clicked)

    optimizer.zero_grad()
    cumulative_loss.backward()
    optimizer.step()

    if count % 100 == 0:
        average = float(cumulative_loss) / count
        curve.append(average)
        print(f"after {count} visitors: average loss {average:.4f}  hit rate {hits / count:.3f}")

print("learning curve:", " ".join(f"{value:.3f}" for value in curve))
