import torch
import torch.nn as nn
import torch.nn.functional as F

# Find round cells in 32x32 microscope images: a fixed set of slots predicts
# (x, y, radius) and a score; every true cell is matched to its nearest slot.

torch.manual_seed(42)

SIZE = 32
SLOTS = 6
EPOCHS = 5
BATCH = 8


def make_image():
    yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    image = 0.1 * torch.randn(SIZE, SIZE)
    cells = []
    for _ in range(torch.randint(1, 4, (1,)).item()):
        x, y = (torch.rand(2) * 0.7 + 0.15).tolist()
        r = torch.rand(1).item() * 0.08 + 0.06
        image += ((xx / SIZE - x) ** 2 + (yy / SIZE - y) ** 2 < r ** 2).float()
        cells.append([x, y, r])
    return image.unsqueeze(0), torch.tensor(cells)


class CellDetector(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(4), nn.Flatten(),
        )
        self.boxes = nn.Linear(24 * 16, SLOTS * 3)
        self.scores = nn.Linear(24 * 16, SLOTS)

    def forward(self, images):
        h = self.features(images)
        boxes = torch.sigmoid(self.boxes(h)).view(-1, SLOTS, 3)
        return boxes, self.scores(h)


def match(boxes, cells):
    """Greedy one-to-one matching of cells to slots by distance."""
    cost = torch.cdist(cells[:, :2], boxes[:, :2].detach())
    taken = []
    for row in cost:
        row = row.clone()
        row[taken] = float("inf")
        taken.append(row.argmin().item())
    return torch.tensor(taken)


def image_loss(boxes, scores, cells):
    slots = match(boxes, cells)
    target = torch.zeros(SLOTS)
    target[slots] = 1.0
    score_loss = F.binary_cross_entropy_with_logits(scores, target)
    box_loss = F.l1_loss(boxes[slots], cells)
    return score_loss + 5.0 * box_loss


def detection_loss(outputs, targets):
    boxes, scores = outputs
    losses = []
    for b in range(len(targets)):
        losses.append(image_loss(boxes[b], scores[b], targets[b]))
    return torch.stack(losses).mean()


dataset = [make_image() for _ in range(96)]
model = CellDetector()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(EPOCHS):
    order = torch.randperm(len(dataset)).tolist()
    epoch_loss = 0.0
    for i in range(0, len(order), BATCH):
        items = [dataset[j] for j in order[i:i + BATCH]]
        images = torch.stack([image for image, _ in items])
        targets = [cells for _, cells in items]

        loss = detection_loss(model(images), targets)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    print(f"epoch {epoch}: loss {epoch_loss / (len(order) // BATCH):.4f}")
