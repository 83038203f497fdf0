import ast
from collections.abc import Iterator

from gradsan.facts.incident import SecondPass
from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.trace import Execution
from gradsan.observe.tried.belief import Belief, Case, place
from gradsan.source.stores import text


class UnusedForward(Belief):
    """The forward is run again before the later pass, and backward() goes through the first one all the same."""

    @classmethod
    def found(cls, case: Case) -> Iterator[Tried]:
        """What was tried."""
        if not isinstance(case.incident, SecondPass):
            return
        freed, before, running = case.incident.freeing.begin, _called(case.creators), case.running()
        for execution, statement in case.since_created():
            if execution.number < freed or execution not in case.trace.created_ops or execution in running:
                continue
            where = place(execution, statement.lineno)
            match statement:
                case ast.Expr(value=ast.Call() as call) if text(call.func) in before and _is_forward(
                    call, execution, case
                ):
                    sentence = f"`{ast.unparse(call)}` at {where} computes it again, but the result is dropped"
                    yield case.tried("unused-forward", execution, statement.lineno, case.culprit or "", sentence)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if text(call.func) in before:
                    if not is_read_after(name, execution):
                        sentence = (
                            f"`{name}`, computed again at {where}, is not used: backward() goes through the old one"
                        )
                        yield case.tried("unused-forward", execution, statement.lineno, case.culprit or "", sentence)


def _called(creators: tuple[Execution, ...]) -> set[str]:
    """What was called to make the old part, as it is written."""
    return {name for creator in creators for call in creator.calls if (name := text(call.func)) is not None}


def _is_forward(call: ast.Call, execution: Execution, case: Case) -> bool:
    """Whether a call is there for its result: it runs a module, or what a library computes and was assigned before.

    Another function of the user's may be there for what it does.
    """
    for entered in execution.called:
        matched = case.stores.match(entered)
        if matched is not None and matched.node is call:
            return matched.scope.name == "forward"
    created = (statement for creator in case.creators for statement in creator.statements)
    assigned = (each.value for each in created if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call))
    return any(text(each.func) == text(call.func) for each in assigned)


def is_read_after(name: str, execution: Execution) -> bool:
    """Whether a function has read a variable since one of its statements ran."""
    later = execution.call.executions[execution.position + 1 :]
    return any(isinstance(node, ast.Name) and node.id == name for each in later for node in each.loads)
