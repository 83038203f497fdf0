"""Fine-tune with a training and a validation phase in each epoch."""
import copy

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def textures(count, seed):
    """Stripes in four directions."""
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(4, (count,), generator=g)
    angle = label * torch.pi / 4
    y, x = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    phase = 6.28 * torch.rand(count, 1, 1, generator=g)
    wave = torch.sin(1.2 * (x * angle.cos()[:, None, None] + y * angle.sin()[:, None, None]) + phase)
    return TensorDataset((wave + 0.5 * torch.randn(count, 12, 12, generator=g))[:, None], label)


def build():
    return nn.Sequential(
        nn.Conv2d(1, 12, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        nn.Dropout(0.1), nn.Linear(64, 4),
    )


def fit(model, loaders, criterion, optimizer, epochs):
    best_state, best_accuracy = copy.deepcopy(model.state_dict()), 0.0
    for epoch in range(epochs):
        for phase in ("training", "validation"):
            model.train(phase == "training")
            loss_sum = hits = count = 0
            for inputs, labels in loaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "training"):
                    outputs = model(inputs)
                    loss = criterion(outputs, labels)
                    if phase == "training":
                        loss.backward()
                        optimizer.step()
                loss_sum += loss.item() * len(inputs)
                hits += (outputs.argmax(1) == labels).sum().item()
                count += len(inputs)
            print(f"epoch {epoch} {phase}: loss {loss_sum / count:.4f} accuracy {hits / count:.3f}")
        if hits / count > best_accuracy:
            best_accuracy, best_state = hits / count, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_state)
    return best_accuracy


torch.manual_seed(57)
loaders = {
    "training": DataLoader(textures(256, seed=1), batch_size=32, shuffle=True),
    "validation": DataLoader(textures(96, seed=2), batch_size=96),
}
model = build()
best = fit(model, loaders, nn.CrossEntropyLoss(), torch.optim.Adam(model.parameters(), lr=4e-3), epochs=5)
print("best accuracy", round(best, 3))
