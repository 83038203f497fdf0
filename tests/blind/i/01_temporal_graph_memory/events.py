import torch


def event_batches(nodes, batches, size, seed=3):
    """Events (source, destination, feature) in order of time; sources of a batch are distinct."""
    rng = torch.Generator().manual_seed(seed)
    friend = torch.randint(nodes, (nodes, 3), generator=rng)
    for _ in range(batches):
        src = torch.randperm(nodes, generator=rng)[:size]
        choice = torch.randint(3, (size,), generator=rng)
        dst = friend[src, choice]
        yield src, dst, choice.float() - 1
