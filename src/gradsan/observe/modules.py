"""The names of modules, found through the parameters that ops use. Looked up when there is something to show."""

from typing import Any

from gradsan.observe.living import instances


def module_names() -> dict[int, str]:
    """For the id of every parameter of a live model, the dotted name of the module that owns it.

    The outermost module has no name of its own: it goes by its class. Nothing is noted while the program runs, so an
    op without a parameter has no module.
    """
    from torch import nn

    modules = instances(nn.Module)
    inner = {id(child) for each in modules for child in _children(each).values()}
    names: dict[int, str] = {}
    for root in modules:
        if id(root) not in inner:
            _name(root, "", names)
    return names


def buffers_beside() -> dict[int, list[Any]]:
    """For the id of every parameter, the buffers of the modules that own it."""
    from torch import nn

    found: dict[int, list[Any]] = {}
    for module in instances(nn.Module):
        buffers = [each for each in vars(module).get("_buffers", {}).values() if each is not None]
        for parameter in vars(module).get("_parameters", {}).values() if buffers else ():
            found.setdefault(id(parameter), []).extend(buffers)
    return found


def _name(root: Any, prefix: str, names: dict[int, str]) -> None:  # noqa: ANN401 # an nn.Module
    stack = [(root, prefix)]
    seen: set[int] = set()
    while stack:
        module, name = stack.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        for parameter in vars(module).get("_parameters", {}).values():
            if parameter is not None:
                names.setdefault(id(parameter), name or type(module).__name__)
        stack += [(child, f"{name}.{key}" if name else key) for key, child in _children(module).items()]


def _children(module: Any) -> dict[str, Any]:  # noqa: ANN401 # an nn.Module
    return {key: child for key, child in vars(module).get("_modules", {}).items() if child is not None}
