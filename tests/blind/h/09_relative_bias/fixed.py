"""A one-layer self-attention tagger with learned relative position bias (T5 style)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, TAGS, DIM, MAX_DISTANCE = 12, 3, 24, 4


class RelativeBias(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(2 * MAX_DISTANCE + 1, 1)

    def forward(self, length):
        place = torch.arange(length)
        distance = (place[None, :] - place[:, None]).clamp(-MAX_DISTANCE, MAX_DISTANCE)
        return self.table(distance + MAX_DISTANCE).squeeze(-1).tanh() * 4


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.bias = RelativeBias()
        self.out = nn.Linear(DIM, TAGS)

    def forward(self, tokens):
        h = self.embed(tokens)
        q, k, v = self.qkv(h).chunk(3, -1)
        scores = q @ k.transpose(1, 2) / DIM ** 0.5 + self.bias(tokens.shape[1])
        return self.out(h + scores.softmax(-1) @ v)


def sentence_batch(rng, n=24):
    """The tag of a word depends on the word before it."""
    length = int(torch.randint(6, 10, (1,), generator=rng))
    tokens = torch.randint(0, VOCAB, (n, length), generator=rng)
    before = torch.cat([torch.zeros(n, 1, dtype=torch.long), tokens[:, :-1]], 1)
    return tokens, before % TAGS


def main(steps=150):
    torch.manual_seed(4)
    rng = torch.Generator().manual_seed(40)
    model = Tagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(steps):
        tokens, tags = sentence_batch(rng)
        logits = model(tokens)
        loss = F.cross_entropy(logits.reshape(-1, TAGS), tags.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 0:
            accuracy = (logits.argmax(-1) == tags).float().mean().item()
            print(f"step {step}: length {tokens.shape[1]}  loss {loss.item():.4f}  accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
