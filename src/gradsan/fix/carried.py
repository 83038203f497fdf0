"""What a name holds, and the code that detaches it: a tensor, or tensors in a tuple, a list, a dict, a record."""

_ITEM = {"tuple": "each", "list": "each", "dict": "value"}


def detached(expression: str, holds: str) -> str | None:
    """The expression with every tensor in it detached; None where no expression can say that.

    `holds` reads from the outside in: "tensor", "tuple of tensor", "list of tuple of tensor".
    """
    kind, _, inner = holds.partition(" of ")
    if kind == "tensor":
        return f"{expression}.detach()"
    if kind not in _ITEM or not inner:
        return f"{expression}._make(each.detach() for each in {expression})" if holds == "named tuple" else None
    item = _ITEM[kind] if expression not in _ITEM.values() else f"inner_{_ITEM[kind]}"
    within = detached(item, inner)
    if within is None:
        return None
    match kind:
        case "tuple":
            return f"tuple({within} for {item} in {expression})"
        case "list":
            return f"[{within} for {item} in {expression}]"
    return f"{{key: {within} for key, {item} in {expression}.items()}}"
