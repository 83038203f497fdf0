"""Language model over long event logs, read segment by segment."""
import argparse

import torch
import torch.nn.functional as F

from model import SegmentLM


def make_logs(rows, length, vocab, seed):
    """Each row repeats a motif of its own, with a few wrong tokens."""
    gen = torch.Generator().manual_seed(seed)
    motif = torch.randint(0, vocab, (rows, 12), generator=gen)
    logs = motif.repeat(1, length // 12 + 1)[:, :length]
    wrong = torch.rand(logs.shape, generator=gen) < 0.03
    return torch.where(wrong, torch.randint(0, vocab, logs.shape, generator=gen), logs)


def segments(logs, seg_len):
    for start in range(0, logs.size(1) - seg_len, seg_len):
        chunk = logs[:, start:start + seg_len + 1]
        yield chunk[:, :-1], chunk[:, 1:]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--seg-len", type=int, default=8)
    ap.add_argument("--lr", type=float, default=4e-3)
    args = ap.parse_args()

    torch.manual_seed(11)
    vocab = 20
    logs = make_logs(rows=16, length=81, vocab=vocab, seed=5)
    model = SegmentLM(vocab)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        model.clear_memory()
        running, count = 0.0, 0
        for tokens, targets in segments(logs, args.seg_len):
            logits = model(tokens)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            running += loss.item()
            count += 1
        print(f"epoch {epoch}: loss {running / count:.4f}")


if __name__ == "__main__":
    main()
