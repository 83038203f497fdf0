"""Of all variables on the path that a value took, the one through which it outlived the pass that freed its graph."""

from itertools import dropwhile

from gradsan.observe.naming.calling import asks_for_pass
from gradsan.observe.naming.dataflow import Flow
from gradsan.observe.naming.demands import Binding
from gradsan.observe.naming.trace import Execution, Trace


def survivor(trace: Trace, path: Flow, freed_number: int | None) -> Binding | None:
    """The variable nearest the entering statement that was stored before the graph was freed, and read after it.

    `freed_number`: the op counter then, if it is known. Where the variable holds the value inside an object, the one in
    there is named, if it still has it. Where no variable spans the moment, because both sides of the crossing were
    there before, the one that was kept longest. What a function was given is called as its caller calls it.
    """
    freed = _boundary(trace, path, freed_number)
    running = trace.executions[freed].stack if freed < len(trace.executions) else ()
    spanning = [each for each in path.bindings if _spans(each, freed, running) or _went_on(each, path)]
    if not spanning:
        kept = max(path.bindings, key=lambda each: each.read.index - each.written.index, default=None)
        return None if kept is None else _as_given(kept, path)
    inside = (each for each in path.bindings if each.by_object)
    nearest = _kept_since(path, spanning[0], freed) or spanning[0]
    return _as_given(next((each for each in inside if _is_alive(each, path)), nearest), path)


def _as_given(binding: Binding, path: Flow) -> Binding:
    """The variable that a function was given, where the graph is older than the call."""
    outwards = path.bindings[path.bindings.index(binding) :]
    given = dropwhile(lambda each: each.kind == "argument" and path.creators[-1].index < each.written.index, outwards)
    return next(given, binding)


def _boundary(trace: Trace, path: Flow, freed: int | None) -> int:
    """When the graph was freed, as an index of executions; `freed`: the op counter then, if it is known.

    The last pass that the user's statements asked for by then; where a library asks, the last statement before it.
    """
    first, last = path.creators[-1].index, path.entering[-1].index
    executions = [each for each in trace.executions[first:last] if each not in path.entering]  # these still run
    if freed is not None:
        executions = [each for each in executions if each.number < freed or (each.number == freed and _is_pass(each))]
        return executions[-1].index if executions else last + 1
    return next((each.index for each in reversed(executions) if _is_pass(each)), last + 1)


def _spans(binding: Binding, freed: int, running: tuple[Execution, ...]) -> bool:
    """Whether it was stored before that moment, and read after it.

    What was running then had stored nothing yet but arguments: a statement stores when all that it calls has returned.
    """
    is_stored = binding.kind == "argument" or binding.written not in running
    return is_stored and binding.written.index < freed <= binding.read.index


def _is_pass(execution: Execution) -> bool:
    return any(map(asks_for_pass, execution.statements))


def _went_on(binding: Binding, path: Flow) -> bool:
    """Whether a loop carried it from one iteration to the next: it is stored further down than it is read."""
    written, read = binding.written, binding.read
    return read in path.entering and written.index < read.index and written.line >= read.line


def _kept_since(path: Flow, binding: Binding, freed: int) -> Binding | None:
    """What lasts, and the variable was put into once the graph was freed, if it has another value itself by now."""
    nearer = path.bindings[: path.bindings.index(binding)] if _is_rebound(binding, path) else ()
    lasting = (each for each in nearer if each.kind not in {"local", "argument"})
    return next((each for each in lasting if each.written.index > freed), None)


def _is_alive(binding: Binding, path: Flow) -> bool:
    """Whether a variable still has that value where the graph enters again."""
    if binding.kind not in {"local", "argument"}:
        return True
    return any(each.call is binding.written.call for each in path.entering) and not _is_rebound(binding, path)


def _is_rebound(binding: Binding, path: Flow) -> bool:
    """Whether a variable was given another value before the graph enters again."""
    until = path.entering[-1].index
    return any(
        store.replaces and not store.path and binding.written.index < execution.index < until
        for execution, store in binding.written.call.stores_to(binding.name)
    )
