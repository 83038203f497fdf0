"""Classifier whose validation scores of all epochs are averaged at the end."""
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 24)
        self.drop = nn.Dropout(0.2)
        self.fc2 = nn.Linear(24, 4)

    def forward(self, x):
        return self.fc2(self.drop(torch.relu(self.fc1(x))))


def split(seed):
    gen = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (40,), generator=gen)
    x = torch.randn(40, 10, generator=gen) + y.unsqueeze(1) * 0.4
    return list(zip(x.split(10), y.split(10)))


def validate(model, data):
    model.eval()
    scores, val_loss = [], 0.0
    for x, y in data:
        logits = model(x)
        val_loss += F.cross_entropy(logits, y).item()
        scores.append(logits.softmax(dim=1))
    return torch.cat(scores), val_loss / len(data)


def main():
    torch.manual_seed(3)
    model = Net()
    opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
    train, valid = split(0), split(1)
    target = torch.cat([y for _, y in valid])
    history = {"train": [], "val": [], "scores": []}

    for epoch in range(6):
        model.train()
        running = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            running += loss.item()
        scores, val_loss = validate(model, valid)
        history["train"].append(running / len(train))
        history["val"].append(val_loss)
        history["scores"].append(scores)
        accuracy = (scores.argmax(1) == target).float().mean().item()
        print(f"epoch {epoch}: train {history['train'][-1]:.4f} val {val_loss:.4f} acc {accuracy:.3f}")

    ensemble = torch.stack(history["scores"]).mean(0)
    print(f"snapshot ensemble accuracy {(ensemble.argmax(1) == target).float().mean().item():.3f}")


if __name__ == "__main__":
    main()
