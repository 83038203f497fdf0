"""Bag-of-words sentiment classifier with early stopping and the best weights kept."""
import copy

import torch
import torch.nn as nn

GOOD = "good great fine lovely superb warm clever".split()
BAD = "bad awful dull poor tedious cold silly".split()
PLAIN = "the a film plot actor scene story music end was is with and of".split()
VOCAB = {word: i for i, word in enumerate(GOOD + BAD + PLAIN)}


def write_review(label, generator):
    def pick(words, n):
        return [words[i] for i in torch.randint(0, len(words), (n,), generator=generator).tolist()]

    main, other = (GOOD, BAD) if label else (BAD, GOOD)
    return " ".join(pick(main, 3) + pick(other, 1) + pick(PLAIN, 8))


def corpus(count, seed):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 2, (count,), generator=generator)
    ids = [[VOCAB[w] for w in write_review(y, generator).split()] for y in labels.tolist()]
    return torch.tensor(ids), labels.float()


class Classifier(nn.Module):
    def __init__(self, vocab, dim=12):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.out = nn.Linear(dim, 1)

    def forward(self, ids):
        return self.out(self.bag(ids)).squeeze(1)


class Trainer:
    def __init__(self, model, train_data, valid_data, lr=0.02, patience=3):
        self.model, self.train_data, self.valid_data = model, train_data, valid_data
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.BCEWithLogitsLoss()
        self.patience, self.bad_epochs = patience, 0
        self.best_loss, self.best_weights = float("inf"), None

    def train_epoch(self, batch_size=32):
        self.model.train()
        x, y = self.train_data
        total = 0.0
        for index in torch.randperm(len(x)).split(batch_size):
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x[index]), y[index])
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(index)
        return total / len(x)

    def validate(self):
        """The loss on the validation data; remembers the weights if it is the lowest so far."""
        self.model.eval()
        x, y = self.valid_data
        with torch.no_grad():
            loss = self.criterion(self.model(x), y).item()
        if loss < self.best_loss:
            self.best_loss, self.bad_epochs = loss, 0
            self.best_weights = copy.deepcopy(self.model.state_dict())
            return loss
        self.bad_epochs += 1
        return loss

    def fit(self, epochs):
        for epoch in range(epochs):
            train_loss, valid_loss = self.train_epoch(), self.validate()
            print(f"epoch {epoch + 1}: train {train_loss:.4f} valid {valid_loss:.4f}")
            if self.bad_epochs >= self.patience:
                print("stopped early")
                break
        self.model.load_state_dict(self.best_weights)


if __name__ == "__main__":
    torch.manual_seed(4)
    trainer = Trainer(Classifier(len(VOCAB)), corpus(256, seed=1), corpus(64, seed=2))
    trainer.fit(epochs=6)
