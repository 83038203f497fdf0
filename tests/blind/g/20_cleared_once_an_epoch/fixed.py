"""Impute missing values of a table with a denoising autoencoder."""
from functools import partial

import torch
import torch.nn as nn


def patients(count, columns=12):
    """Columns that hang together by three hidden causes."""
    cause = torch.randn(count, 3)
    table = torch.tanh(cause @ torch.randn(3, columns)) + 0.1 * torch.randn(count, columns)
    return table


def masked_mse(prediction, target, mask):
    return ((prediction - target) ** 2 * mask).sum() / mask.sum().clamp(min=1)


def hide(table, share):
    mask = (torch.rand_like(table) < share).float()
    return table * (1 - mask), mask


def train(model, table, epochs, batch_size, make_optimizer, share=0.25):
    optimizer = make_optimizer(model.parameters())
    history = []
    for epoch in range(epochs):
        losses = []
        for rows in torch.randperm(len(table)).split(batch_size):
            wanted = table[rows]
            visible, mask = hide(wanted, share)
            prediction = model(torch.cat([visible, mask], dim=1))
            loss = masked_mse(prediction, wanted, mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        history.append(sum(losses) / len(losses))
        print(f"epoch {epoch}: error of hidden cells {history[-1]:.4f}")
    return history


if __name__ == "__main__":
    torch.manual_seed(62)
    table = patients(480)
    model = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 12))
    train(model, table, epochs=8, batch_size=40, make_optimizer=partial(torch.optim.SGD, lr=0.1, momentum=0.5))
