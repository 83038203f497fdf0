"""Train the patch transformer on stripes, with two picture sizes mixed over the epochs."""
import argparse

import torch
import torch.nn.functional as F

from model import PatchTransformer


def make_stripes(n, size, seed):
    g = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, 4, (n,), generator=g)
    phase = 6.28 * torch.rand(n, 1, 1, generator=g)
    ys, xs = torch.meshgrid(torch.arange(size).float(), torch.arange(size).float(), indexing="ij")
    directions = torch.stack([xs, ys, xs + ys, xs - ys])
    images = torch.sin(1.3 * directions[kind] + phase)
    images = images + 0.2 * torch.randn(n, size, size, generator=g)
    return images[:, None], kind


def batches(images, labels, batch_size, generator):
    order = torch.randperm(len(images), generator=generator)
    for start in range(0, len(order), batch_size):
        idx = order[start:start + batch_size]
        yield images[idx], labels[idx]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--sizes", type=int, nargs="+", default=[12, 16])
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args()

    torch.manual_seed(1)
    shuffle = torch.Generator().manual_seed(5)
    data = {size: make_stripes(256, size, seed=size) for size in args.sizes}
    model = PatchTransformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        size = args.sizes[epoch % len(args.sizes)]
        total, hits, seen = 0.0, 0, 0
        for images, labels in batches(*data[size], args.batch_size, shuffle):
            logits = model(images)
            loss = F.cross_entropy(logits, labels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(images)
            hits += (logits.argmax(1) == labels).sum().item()
            seen += len(images)
        print(f"epoch {epoch} ({size}px)  loss {total / seen:.4f}  acc {hits / seen:.2f}")


if __name__ == "__main__":
    main()
