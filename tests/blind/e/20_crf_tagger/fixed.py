"""Tag noisy token sequences (O, B, I) with emissions from an embedding and a CRF on top."""
import torch
import torch.nn as nn

from fixed_crf import CRF

O, B, I = 0, 1, 2


def sample_sequences(count, length, noise):
    tags = torch.zeros(count, length, dtype=torch.long)
    for row in tags:
        t = 0
        while t < length:
            if torch.rand(()).item() < 0.4:
                end = min(length, t + 3)
                row[t] = B
                row[t + 1:end] = I
                t = end
            t += 1
    tokens = tags * 4 + torch.randint(0, 4, tags.shape)
    flip = torch.rand(tags.shape) < noise
    return torch.where(flip, torch.randint(0, 12, tags.shape), tokens), tags


class Tagger(nn.Module):
    def __init__(self, vocab=12, dim=8, tags=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.emit = nn.Linear(dim, tags)
        self.crf = CRF(tags, forbidden=[(O, I)])

    def emissions(self, tokens):
        return self.emit(torch.tanh(self.embed(tokens)))

    def loss(self, tokens, tags):
        return self.crf(self.emissions(tokens), tags)

    def tag(self, tokens):
        with torch.no_grad():
            return self.crf.decode(self.emissions(tokens))


def main():
    torch.manual_seed(6)
    tokens, tags = sample_sequences(200, length=12, noise=0.35)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(8):
        total = 0.0
        for index in torch.randperm(160).split(32):
            optimizer.zero_grad()
            loss = model.loss(tokens[index], tags[index])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(index) / 160
        accuracy = (model.tag(tokens[160:]) == tags[160:]).float().mean().item()
        print(f"epoch {epoch + 1}: nll {total:.4f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
