"""What any recommender needs: batches with sampled negatives, the BPR loss, recall@20 and NDCG@20."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional

from shop import ITEMS, USERS, Shop

TOP = 20


def batches(shop: Shop, size: int = 1024) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """All purchases in a new order: users, what they bought, and as many items drawn at random, as nodes."""
    for chosen in torch.randperm(shop.bought.shape[1]).split(size):
        users, items = shop.bought[:, chosen]
        yield users, items + USERS, torch.randint(ITEMS, users.shape) + USERS


def bpr_loss(users: Tensor, bought: Tensor, others: Tensor) -> Tensor:
    """Bayesian personalised ranking: what was bought shall score higher than what was not."""
    return -functional.logsigmoid((users * bought).sum(dim=1) - (users * others).sum(dim=1)).mean()


@torch.no_grad()
def evaluate(nodes: Tensor, shop: Shop) -> tuple[float, float]:
    """recall@20 and NDCG@20 of what was held out, over all users."""
    scores = nodes[:USERS] @ nodes[USERS:].T
    scores[shop.bought[0], shop.bought[1]] = -torch.inf  # nobody wants the same thing twice
    wanted = torch.zeros(USERS, ITEMS)
    wanted[shop.held_out[0], shop.held_out[1]] = 1.0
    hits = wanted.gather(1, scores.topk(TOP).indices)
    discount = 1 / torch.arange(2, TOP + 2).log2()
    best = wanted.topk(TOP).values  # a perfect list has all that is wanted at its top
    recall = hits.sum(dim=1) / wanted.sum(dim=1)
    return recall.mean().item(), ((hits @ discount) / (best @ discount)).mean().item()


def report(when: str, nodes: Tensor, shop: Shop) -> None:
    """Print how much of what was held out is found."""
    recall, ndcg = evaluate(nodes, shop)
    print(f"{when}: recall@20 {recall:.3f}, NDCG@20 {ndcg:.3f}", flush=True)
