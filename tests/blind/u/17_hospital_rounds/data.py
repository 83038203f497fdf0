import torch


def make_sites(num_sites, dim, seed):
    """One (features, targets) pair for each hospital; sizes and shifts differ."""
    gen = torch.Generator().manual_seed(seed)
    true_w = torch.randn(dim, generator=gen)
    sites = []
    for k in range(num_sites):
        n = 60 + 30 * k
        shift = 0.5 * torch.randn(dim, generator=gen)
        x = torch.randn(n, dim, generator=gen) + shift
        risk = torch.sigmoid(x @ true_w)
        y = (torch.rand(n, generator=gen) < risk).float()
        sites.append((x, y))
    return sites
