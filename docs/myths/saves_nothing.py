import torch

OPS = {
    "a + b": lambda a, b: a + b,
    "a.sum()": lambda a, _: a.sum(),
    "a.mean()": lambda a, _: a.mean(),
    "a.view(-1)": lambda a, _: a.view(-1),
    "a[0]": lambda a, _: a[0],
    "torch.cat([a, b])": lambda a, b: torch.cat([a, b]),
    "a * b": lambda a, b: a * b,
    "a * 2": lambda a, _: a * 2,
    "a.exp()": lambda a, _: a.exp(),
    "a.relu()": lambda a, _: a.relu(),
    "a @ b": lambda a, b: a @ b,
}

for written, op in OPS.items():
    a, b = torch.rand(2, 2, requires_grad=True), torch.rand(2, 2, requires_grad=True)
    result = op(a, b)
    node = result.grad_fn
    saved = [name for name in dir(node) if name.startswith("_saved_") and isinstance(getattr(node, name), torch.Tensor)]
    result.sum().backward()
    try:
        result.sum().backward()
        second = "runs"
    except RuntimeError:
        second = "raises"
    print(f"{written:18} saves {', '.join(saved) or 'no tensor':28} second backward {second}")
