import random


def random_tree(rng, depth):
    """('x',) / ('1',) leaves, (op, left, right) inner nodes. Tuples: equal trees are equal keys."""
    if depth == 0 or rng.random() < 0.2:
        return (rng.choice(["x", "1"]),)
    return (rng.choice("+-*"), random_tree(rng, depth - 1), random_tree(rng, depth - 1))


def evaluate(tree, x):
    if len(tree) == 1:
        return x if tree[0] == "x" else 1.0
    a, b = evaluate(tree[1], x), evaluate(tree[2], x)
    return {"+": a + b, "-": a - b, "*": a * b}[tree[0]]


def dataset(n, depth, seed):
    rng = random.Random(seed)
    trees = [random_tree(rng, depth) for _ in range(n)]
    return [(t, max(-3.0, min(3.0, evaluate(t, 0.7)))) for t in trees]
