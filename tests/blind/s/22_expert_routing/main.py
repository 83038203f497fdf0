"""Language modelling with a sparse mixture of experts and a load-balancing loss."""
import argparse

import torch
import torch.nn.functional as F

from moe import NGramLM

SONG = ("row row row your boat gently down the stream merrily merrily merrily merrily "
        "life is but a dream ") * 10


def encode(text):
    vocab = sorted(set(text))
    table = {c: i for i, c in enumerate(vocab)}
    return torch.tensor([table[c] for c in text]), len(vocab)


def batches(ids, context, size, steps, seed):
    g = torch.Generator().manual_seed(seed)
    frames = ids.unfold(0, context + 1, 1)
    for _ in range(steps):
        rows = frames[torch.randint(0, len(frames), (size,), generator=g)]
        yield rows[:, :-1], rows[:, -1]


@torch.no_grad()
def evaluate(model, ids, context):
    model.eval()
    frames = ids.unfold(0, context + 1, 1)[:200]
    loss = F.cross_entropy(model(frames[:, :-1]), frames[:, -1])
    model.train()
    return loss.item()


def train(model, ids, args):
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.steps)
    model.train()
    stream = batches(ids, args.context, args.batch, args.steps, args.seed)
    for step, (tokens, nxt) in enumerate(stream):
        logits = model(tokens)
        ce = F.cross_entropy(logits, nxt)
        balance = model.aux.total()
        loss = ce + args.balance * balance

        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()

        if step % 10 == 9:
            print(f"step {step + 1:3d}  ce {ce.item():.4f}  balance {balance.item():.4f}  "
                  f"held {evaluate(model, ids, args.context):.4f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--context", type=int, default=6)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--steps", type=int, default=50)
    ap.add_argument("--lr", type=float, default=1e-2)
    ap.add_argument("--balance", type=float, default=0.05)
    ap.add_argument("--seed", type=int, default=2)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    ids, vocab = encode(SONG)
    train(NGramLM(vocab, args.context), ids, args)


if __name__ == "__main__":
    main()
