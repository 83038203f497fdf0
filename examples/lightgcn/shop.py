"""A synthetic shop: people with tastes, things of a kind, and who bought what. The same seed makes the same shop.

Every item is of one kind and more or less popular; every user likes two or three kinds, and mostly buys what is popular
among them. A fifth of what a user bought is held out: a recommender that has understood the tastes finds it again.
"""

import random
from dataclasses import dataclass

import torch
from torch import Tensor

USERS, ITEMS, KINDS = 600, 900, 18
BOUGHT = (12, 28)  # the least and the most that a user buys


@dataclass(frozen=True)
class Shop:
    """Who bought what. Users and items are nodes of one graph: item `i` is the node `USERS + i`."""

    bought: Tensor  # [2, n]: users and items, to train on
    held_out: Tensor  # [2, m]: likewise, to be found again

    @property
    def nodes(self) -> int:
        """Users and items."""
        return USERS + ITEMS

    @property
    def edges(self) -> Tensor:
        """Every purchase as an edge between two nodes, in both directions: [2, 2n]."""
        users, items = self.bought[0], self.bought[1] + USERS
        return torch.stack([torch.cat([users, items]), torch.cat([items, users])])


def open_shop(seed: int = 0) -> Shop:
    """Let every user buy, and hold out a fifth of it."""
    rng = random.Random(seed)  # noqa: S311 # it makes data, no secrets
    kinds = [[item for item in range(ITEMS) if item % KINDS == kind] for kind in range(KINDS)]
    popularity = [rng.paretovariate(1.2) for _ in range(ITEMS)]
    bought, held_out = [], []
    for user in range(USERS):
        liked = rng.sample(range(KINDS), rng.choice([2, 3]))
        basket: dict[int, None] = {}  # a set that keeps its order
        size = rng.randint(*BOUGHT)
        while len(basket) < size:
            choice = kinds[rng.choice(liked)] if rng.random() < 0.9 else range(ITEMS)  # one in ten is a whim
            basket[rng.choices(choice, [popularity[item] for item in choice])[0]] = None
        purchases = [(user, item) for item in basket]
        rng.shuffle(purchases)
        cut = len(purchases) // 5
        held_out += purchases[:cut]
        bought += purchases[cut:]
    return Shop(torch.tensor(bought).T.contiguous(), torch.tensor(held_out).T.contiguous())
