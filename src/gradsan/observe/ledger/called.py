"""Which modules ran, read from the lines that called them by name: where modules must not be listened to.

A hook on a module makes `torch.compile` compile again whatever has it inside.
"""

from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from gradsan.observe.frame_variables import variables_of
from gradsan.observe.ledger.module_runs import Ran, runs_of
from gradsan.observe.ledger.spans import end_of
from gradsan.observe.living import instances
from gradsan.observe.modules import module_names, trained
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.process import Process
from gradsan.observe.unasked import attributes_of, is_one
from gradsan.source.names import called_name

_WRAPPER = "_orig_mod"  # under which a compiled module keeps the one that was compiled


def ran_by_name(wanted: set[int], frames: Sequence[FrameType], process: Process, since: int) -> list[Ran]:
    """Runs of modules with these parameters (by id) since op `since`; more than one where several lines may have."""
    from torch import nn

    modules = instances(nn.Module)
    above = {id(child): (each, key) for each in modules for key, child in each._modules.items() if child is not None}  # noqa: SLF001 # without running the user's code
    variable_names = _named_values([each for each in frames if process.owns(each.f_code.co_filename)], nn.Module)
    trace = Trace(process.lines, since, None, ())
    found = []
    for module in modules:
        if any(id(each) in wanted for each in module._parameters.values()):  # noqa: SLF001 # as above
            names = set(_names(module, above, variable_names))
            for each in _calling(trace, names):
                number = each.number if end_of(each, trace) > each.number else None
                found += runs_of(module, wanted, each.frames(), number)
    return found


def unheard_parameters(wanted: set[int], frames: Sequence[FrameType], process: Process) -> list[Ran]:
    """Where such parameters (by id) may be read though no forward ran: by other methods, or as bare variables."""
    from torch import Tensor, nn

    modules = [each for each in instances(nn.Module) if not wanted.isdisjoint(map(id, each._parameters.values()))]  # noqa: SLF001 # without running the user's code
    by_methods = [ran for each in modules for ran in runs_of(each, wanted, (), None) if ran.classes]
    bare = wanted - module_names(trained().modules).keys()
    own = [each for each in frames if process.owns(each.f_code.co_filename)] if bare else []
    named = {identity: names for identity, names in _named_values(own, Tensor).items() if identity in bare}
    classes = tuple(dict.fromkeys(each.f_code.co_qualname.rpartition(".")[0] for each in own))
    return by_methods + [
        Ran((name,), (each,), (), None, classes, is_bare=True) for each, names in named.items() for name in names
    ]


def _names(module: Any, above: dict[int, tuple[Any, str]], variable_names: dict[int, set[str]]) -> Iterator[str]:  # noqa: ANN401 # an nn.Module
    """What the module, or one that it is part of, may be called by."""
    seen: set[int] = set()
    while id(module) not in seen:
        seen.add(id(module))
        yield from variable_names.get(id(module), ())
        if id(module) in above:
            module, key = above[id(module)]
            if not key.isdigit() and key != _WRAPPER:
                yield key


def _named_values(frames: Sequence[FrameType], kind: type) -> dict[int, set[str]]:
    """The variables and attributes that are of a kind, by their ids."""
    found: dict[int, set[str]] = {}
    with variables_of(frames) as scopes:
        for frame, variables in zip(frames, scopes, strict=True):
            own = attributes_of(variables.get("self")) or {}
            named = (*list(variables.items()), *frame.f_globals.items(), *own.items())
            for name, value in (each for each in named if is_one(each[1], kind)):
                found.setdefault(id(value), set()).add(name)
    return found


def _calling(trace: Trace, names: set[str]) -> list[Execution]:
    """The statements that call something of such a name, the latest run of each."""
    found: dict[tuple[str, int], Execution] = {}
    for each in trace.executions:
        if any(called_name(call) in names for call in each.calls):
            found[(each.call.code.file, each.line)] = each
    return list(found.values())
