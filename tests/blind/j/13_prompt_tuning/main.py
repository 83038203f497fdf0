"""Prompt tuning for a frozen image/text model (few-shot classification).

The image tower and the text tower are frozen. Only the context vectors that stand before
every class name, and the temperature, are learned. Images come in mini-batches; every
batch makes one update of the context.
"""
import torch
import torch.nn.functional as F
from torch import nn

WIDTH = 16
CLASS_NAMES = ["cat", "dog", "owl", "fox"]


class TextTower(nn.Module):
    """Frozen stand-in for a pretrained text encoder."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(WIDTH, WIDTH)
        self.project = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, tokens):
        h = torch.tanh(self.mix(tokens)) + tokens
        return F.normalize(self.project(h.mean(1)), dim=-1)


class ImageTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(12, WIDTH)

    def forward(self, images):
        return F.normalize(self.project(images), dim=-1)


class PromptLearner(nn.Module):
    """Learned context tokens of each class, followed by the (fixed) token of the class name."""

    def __init__(self, n_context=3):
        super().__init__()
        self.context = nn.Parameter(torch.randn(len(CLASS_NAMES), n_context, WIDTH) * 0.02)
        self.register_buffer("names", torch.randn(len(CLASS_NAMES), 1, WIDTH))

    def forward(self):
        return torch.cat([self.context, self.names], dim=1)


class PromptedClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.text = TextTower()
        self.image = ImageTower()
        self.prompt = PromptLearner()
        self.log_scale = nn.Parameter(torch.tensor(1.0))
        for tower in (self.text, self.image):
            for p in tower.parameters():
                p.requires_grad_(False)

    def encode_classes(self):
        return self.text(self.prompt())

    def forward(self, images, class_features):
        return self.log_scale.exp() * self.image(images) @ class_features.T


def few_shot_data(shots=12):
    labels = torch.arange(len(CLASS_NAMES)).repeat(shots)
    centres = torch.randn(len(CLASS_NAMES), 12)
    return centres[labels] + 0.3 * torch.randn(len(labels), 12), labels


def train_epoch(model, optimizer, images, labels, batch=12):
    order = torch.randperm(len(labels))
    class_features = model.encode_classes()
    losses = []
    for rows in order.split(batch):
        logits = model(images[rows], class_features)
        loss = F.cross_entropy(logits, labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def main():
    torch.manual_seed(13)
    model = PromptedClassifier()
    images, labels = few_shot_data()
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=0.05)
    for epoch in range(8):
        print("epoch", epoch, "loss", round(train_epoch(model, optimizer, images, labels), 4))
    with torch.no_grad():
        accuracy = (model(images, model.encode_classes()).argmax(1) == labels).float().mean()
    print("accuracy", round(accuracy.item(), 3))


if __name__ == "__main__":
    main()
