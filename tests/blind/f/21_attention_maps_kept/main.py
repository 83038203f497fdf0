"""Learn to copy marked tokens with a small attention model; report how sharp its attention becomes."""
import torch
import torch.nn.functional as F

from model import Reader


def task(count, length=10, vocab=12):
    tokens = torch.randint(1, vocab, (count, length))
    marked = torch.randint(length, (count,))
    marks = F.one_hot(marked, length).float()
    return tokens, marks, tokens.gather(1, marked[:, None]).squeeze(1)


def sharpness(maps):
    """1 - normalised entropy, of the mean over many maps."""
    weights = torch.cat(maps)
    entropy = -(weights * (weights + 1e-9).log()).sum(-1) / torch.log(torch.tensor(float(weights.shape[-1])))
    return 1 - entropy.mean().item()


def main():
    torch.manual_seed(33)
    tokens, marks, wanted = task(512)
    model = Reader(vocab=12, width=24)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(8):
        begin = len(model.pool.maps)
        total = 0.0
        for rows in torch.randperm(512).split(64):
            logits = model(tokens[rows], marks[rows])
            loss = F.cross_entropy(logits, wanted[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / 8
        print(f"epoch {epoch}: loss {total:.4f}, sharpness {sharpness(model.pool.maps[begin:]):.3f}")
    print(f"{len(model.pool.maps)} maps for the animation, from {sharpness(model.pool.maps[:8]):.3f} to {sharpness(model.pool.maps[-8:]):.3f}")


if __name__ == "__main__":
    main()
