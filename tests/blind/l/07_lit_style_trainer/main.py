"""A home-grown 'lightning': the module says what a step is, the Trainer loops."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Module(nn.Module):
    def training_step(self, batch, index):
        raise NotImplementedError

    def configure_optimizers(self):
        raise NotImplementedError


class DigitMixer(Module):
    def __init__(self, patches=4, width=9, classes=3):
        super().__init__()
        self.tokens = nn.Sequential(nn.Linear(patches, 8), nn.GELU(),
                                    nn.Linear(8, patches))
        self.channels = nn.Sequential(nn.Linear(width, 16), nn.GELU(),
                                      nn.Linear(16, width))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = x + self.tokens(x.transpose(1, 2)).transpose(1, 2)
        x = x + self.channels(x)
        return self.head(x.mean(1))

    def training_step(self, batch, index):
        x, y = batch
        loss = F.cross_entropy(self(x), y, label_smoothing=0.1)
        loss.backward()
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)


class Trainer:
    def __init__(self, max_epochs, clip=None):
        self.max_epochs, self.clip = max_epochs, clip

    def fit(self, module, loader):
        optimizer = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            for index, batch in enumerate(loader):
                optimizer.zero_grad()
                loss = module.training_step(batch, index)
                loss.backward()
                if self.clip is not None:
                    nn.utils.clip_grad_norm_(module.parameters(), self.clip)
                optimizer.step()
            print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(21)
    data = TensorDataset(torch.randn(60, 4, 9), torch.randint(0, 3, (60,)))
    Trainer(max_epochs=2, clip=1.0).fit(DigitMixer(), DataLoader(data, batch_size=20))
