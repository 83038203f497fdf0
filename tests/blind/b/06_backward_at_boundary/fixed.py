"""Large effective batches on a small machine: four micro-batches per update."""
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

ACCUM_STEPS = 4


def build():
    model = nn.Sequential(nn.Linear(5, 20), nn.SiLU(), nn.LayerNorm(20), nn.Linear(20, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01)
    return model, optimizer


def main():
    torch.manual_seed(6)
    x = torch.randn(64, 5)
    y = (x[:, 0] * x[:, 1] > 0).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True)
    model, optimizer = build()

    for epoch in range(3):
        running = 0.0
        optimizer.zero_grad()
        for i, (inputs, labels) in enumerate(loader):
            loss = F.cross_entropy(model(inputs), labels)
            running += loss.item()
            loss = loss / ACCUM_STEPS
            loss.backward()
            if (i + 1) % ACCUM_STEPS == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch}: loss {running / len(loader):.4f}")


if __name__ == "__main__":
    main()
