"""Fine-tune a small pretrained convnet: new head, frozen backbone."""
import torch
import torch.nn.functional as F
from torch import nn


class SmallConvNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 8, 3, padding=1)
        self.fc = nn.Linear(8, num_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        return self.fc(x.mean(dim=(2, 3)))


def pictures(n, classes):
    y = torch.arange(n) % classes
    x = 0.3 * torch.randn(n, 1, 8, 8)
    for i, label in enumerate(y.tolist()):
        x[i, 0, :, label::classes] += 1.0
    return x, y


def fit(model, params, data, epochs, lr):
    x, y = data
    optimizer = torch.optim.Adam(params, lr=lr)
    for epoch in range(epochs):
        for xb, yb in zip(x.split(10), y.split(10)):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
        print(f"  epoch {epoch} loss {loss.item():.4f}")


def prepare_for_finetuning(model, num_classes):
    for param in model.parameters():
        param.requires_grad = False
    model.fc = nn.Linear(model.fc.in_features, num_classes)
    return model


def main():
    torch.manual_seed(31)
    model = SmallConvNet(num_classes=4)
    print("pretraining")
    fit(model, model.parameters(), pictures(40, 4), epochs=3, lr=0.01)
    print("finetuning")
    model = prepare_for_finetuning(model, num_classes=2)
    fit(model, model.fc.parameters(), pictures(40, 2), epochs=3, lr=0.05)


if __name__ == "__main__":
    main()
