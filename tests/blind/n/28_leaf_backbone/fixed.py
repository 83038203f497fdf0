import torch
import torch.nn as nn

torch.manual_seed(123)


class SmallCNN(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(16 * 4 * 4, num_classes)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        return self.fc(x.flatten(1))


# network for 20 plant species; we reuse it to tell healthy from diseased leaves
model = SmallCNN(num_classes=20)

# new classifier on top, keep the convolutions as they are
for param in model.parameters():
    param.requires_grad = False
model.fc = nn.Linear(16 * 4 * 4, 2)

optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()

labels = torch.randint(0, 2, (120,))
leaves = torch.rand(120, 3, 16, 16)
leaves[labels == 1, 1] *= 0.5   # diseased leaves are less green

for epoch in range(3):
    for idx in torch.randperm(120).split(30):
        out = model(leaves[idx])
        loss = criterion(out, labels[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
