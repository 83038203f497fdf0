"""Pretrain a tiny LM on one counting pattern, then fine-tune adapters on another one with checkpointing."""
import argparse

import torch
import torch.nn.functional as F

from lora import add_adapters
from model import TinyLM

VOCAB = 12


def sequences(n, length, step, seed):
    g = torch.Generator().manual_seed(seed)
    start = torch.randint(0, VOCAB, (n, 1), generator=g)
    ids = (start + step * torch.arange(length)) % VOCAB
    noise = torch.rand(ids.shape, generator=g) < 0.05
    return torch.where(noise, torch.randint(0, VOCAB, ids.shape, generator=g), ids)


def lm_loss(model, ids):
    logits = model(ids[:, :-1])
    return F.cross_entropy(logits.reshape(-1, VOCAB), ids[:, 1:].reshape(-1))


def train(model, params, ids, epochs, batch_size, lr, name):
    optimizer = torch.optim.AdamW(params, lr=lr)
    model.train()
    for epoch in range(epochs):
        total, steps = 0.0, 0
        for idx in torch.randperm(len(ids)).split(batch_size):
            loss = lm_loss(model, ids[idx])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(params, 1.0)
            optimizer.step()
            total += loss.item()
            steps += 1
        print(f"{name} epoch {epoch}: loss {total / steps:.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()

    torch.manual_seed(0)
    model = TinyLM(VOCAB)
    base_data = sequences(160, 16, step=1, seed=1)
    train(model, list(model.parameters()), base_data, 4, args.batch_size, 5e-3, "pretrain")

    adapters = add_adapters(model, rank=4)
    model.gradient_checkpointing = True
    print(f"trainable parameters: {sum(p.numel() for p in adapters)}")
    tuned_data = sequences(160, 16, step=5, seed=2)
    train(model, adapters, tuned_data, args.epochs, args.batch_size, 1e-2, "adapters")


if __name__ == "__main__":
    main()
