"""House price regression on a made-up table."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

SETTINGS = {
    "epochs": 4,
    "batch_size": 32,
    "lr": 0.01,
    "hidden": 32,
    "seed": 3,
}


def build_table(n, seed):
    g = torch.Generator().manual_seed(seed)
    area = 40 + 160 * torch.rand(n, 1, generator=g)
    rooms = torch.randint(1, 7, (n, 1), generator=g).float()
    age = 60 * torch.rand(n, 1, generator=g)
    dist = 20 * torch.rand(n, 1, generator=g)
    price = 2.0 * area + 12 * rooms - 1.1 * age - 4 * dist + 0.02 * area * rooms
    price = price + 8 * torch.randn(n, 1, generator=g)
    x = torch.cat([area, rooms, age, dist], dim=1)
    x = (x - x.mean(0)) / x.std(0)
    y = (price - price.mean()) / price.std()
    return TensorDataset(x, y)


class PriceNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.layers(x)


class Trainer:
    def __init__(self, model, settings):
        self.model = model
        self.settings = settings
        self.criterion = nn.SmoothL1Loss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=settings["lr"])
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=2, gamma=0.5)

    def grad_norm(self):
        total = 0.0
        for p in self.model.parameters():
            total += p.grad.norm().item() ** 2
        return total ** 0.5

    def training_step(self, batch):
        x, y = batch
        loss = self.criterion(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        return loss, self.grad_norm()

    def validate(self, loader):
        self.model.eval()
        total = 0.0
        with torch.no_grad():
            for x, y in loader:
                total += self.criterion(self.model(x), y).item()
        self.model.train()
        return total / len(loader)

    def fit(self, train_loader, valid_loader):
        for epoch in range(self.settings["epochs"]):
            running, norms = 0.0, []
            for batch in train_loader:
                loss, norm = self.training_step(batch)
                self.optimizer.step()
                running += loss.item()
                norms.append(norm)
            self.scheduler.step()
            print(f"epoch {epoch + 1}: train {running / len(train_loader):.4f}  "
                  f"valid {self.validate(valid_loader):.4f}  |g| {sum(norms) / len(norms):.3f}")


def main():
    torch.manual_seed(SETTINGS["seed"])
    train_loader = DataLoader(build_table(256, 1), batch_size=SETTINGS["batch_size"], shuffle=True)
    valid_loader = DataLoader(build_table(64, 2), batch_size=64)
    Trainer(PriceNet(SETTINGS["hidden"]), SETTINGS).fit(train_loader, valid_loader)


if __name__ == "__main__":
    main()
