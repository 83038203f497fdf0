"""Training and evaluation loops."""
import torch


def train_one_epoch(model, loader, criterion, optimizer):
    model.train()
    total, seen = 0.0, 0
    for inputs, targets in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(inputs)
        seen += len(inputs)
    return total / seen


def evaluate(model, loader, criterion):
    model.eval()
    torch.set_grad_enabled(False)
    total, correct, seen = 0.0, 0, 0
    for inputs, targets in loader:
        outputs = model(inputs)
        total += criterion(outputs, targets).item() * len(inputs)
        correct += (outputs.argmax(dim=1) == targets).sum().item()
        seen += len(inputs)
    return total / seen, correct / seen
