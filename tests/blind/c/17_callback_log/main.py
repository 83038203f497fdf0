"""Autoencoder with callbacks; one of them keeps a log for a plot."""
import torch
from torch import nn

from callbacks import CallbackList, History, Printer


class Trainer:
    def __init__(self, model, callbacks):
        self.model = model
        self.callbacks = CallbackList(callbacks)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            self.callbacks.call("epoch_begin", epoch)
            for number, batch in enumerate(batches):
                code, decoded = self.model(batch)
                losses = {"reconstruction": nn.functional.mse_loss(decoded, batch), "sparsity": code.abs().mean()}
                loss = losses["reconstruction"] + 0.01 * losses["sparsity"]
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.callbacks.call("batch_end", number, dict(losses, total=loss))
            self.callbacks.call("epoch_end", epoch)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3))
        self.decode = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 12))

    def forward(self, x):
        code = self.encode(x)
        return code, self.decode(code)


def main():
    torch.manual_seed(17)
    batches = torch.randn(40, 12).split(5)
    history = History()
    Trainer(Autoencoder(), [history, Printer(every=4)]).fit(batches, epochs=4)
    print("smallest", f"{min(float(each['total']) for each in history.rows):.4f}")


if __name__ == "__main__":
    main()
