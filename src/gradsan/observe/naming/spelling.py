"""Names as users write them."""


def last_part(name: str) -> str:
    """The attribute of a dotted name; a plain name itself."""
    return name.rpartition(".")[2]


def is_called_like(one: str, other: str) -> bool:
    """Whether two names may mean the same thing: attributes are compared whatever their objects are called."""
    if "." in one and "." in other:
        return last_part(one) == last_part(other)
    return one == other
