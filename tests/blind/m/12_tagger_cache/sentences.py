import torch

LENGTHS = (6, 9, 12)


def buckets(per_length, size=10, words=12):
    """Batches of (tokens, tags), every length `per_length` times."""
    batches = []
    for _ in range(per_length):
        for length in LENGTHS:
            tokens = torch.randint(words, (size, length))
            repeat = torch.rand(size, length) < 0.3
            for column in range(1, length):
                tokens[:, column] = torch.where(repeat[:, column], tokens[:, column - 1], tokens[:, column])
            tags = torch.zeros_like(tokens)
            tags[:, 1:] = (tokens[:, 1:] == tokens[:, :-1]).long()
            batches.append((tokens, tags))
    return batches
