"""Keyword spotting with attention over padded utterances."""
import torch
import torch.nn.functional as F

from model import SpeechEncoder, WordQuery

torch.manual_seed(16000)


def utterances(n, n_words=4, max_len=18, n_mels=10):
    lengths = torch.randint(8, max_len + 1, (n,))
    present = (torch.rand(n, n_words) < 0.4).float()
    frames = 0.3 * torch.randn(n, max_len, n_mels)
    for i in range(n):
        for w in range(n_words):
            if present[i, w]:
                at = int(torch.randint(0, int(lengths[i]) - 2, ()))
                frames[i, at:at + 2, 2 * w:2 * w + 2] += 1.5
        frames[i, lengths[i]:] = 0
    return frames, lengths, present


def attend(queries, keys, values, lengths):
    """queries (W, D), keys and values (B, T, D) -> contexts (B, W, D); padding is ignored."""
    scores = torch.einsum("wd,btd->bwt", queries, keys) / keys.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    padding = torch.arange(keys.shape[1])[None, :] >= lengths[:, None]
    weights.masked_fill_(padding[:, None, :], 0.0)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ values


def main():
    encoder, spotter = SpeechEncoder(), WordQuery()
    optimizer = torch.optim.Adam([*encoder.parameters(), *spotter.parameters()], lr=1e-2)
    frames, lengths, present = utterances(96)

    for epoch in range(6):
        for idx in torch.randperm(96).split(24):
            keys, values = encoder(frames[idx])
            context = attend(spotter.queries, keys, values, lengths[idx])
            loss = F.binary_cross_entropy_with_logits(spotter(context), present[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}  bce {loss.item():.4f}")


if __name__ == "__main__":
    main()
