import ast
from collections.abc import Iterator

from gradsan.lifecycle.incident import SecondPass
from gradsan.observe.beliefs.belief import Belief, Case, place
from gradsan.observe.naming.statements import calls, loads, text
from gradsan.observe.naming.trace import Execution


class UnusedForward(Belief):
    """The forward is run again before the later pass, and the pass goes through the first one all the same."""

    @classmethod
    def notes(cls, case: Case) -> Iterator[str]:
        """What to tell the user."""
        if not isinstance(case.incident, SecondPass):
            return
        freed, before, running = case.incident.freeing.begin, _called(case.makers), case.running()
        for execution, statement in case.since_made():
            if execution.number < freed or execution not in case.trace.made_ops or execution in running:
                continue
            where = place(execution, statement.lineno)
            match statement:
                case ast.Expr(value=ast.Call() as call) if text(call.func) in before and _is_forward(
                    call, execution, case
                ):
                    yield f"`{ast.unparse(call)}` at {where} computes it anew, but the result is dropped"
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if text(call.func) in before:
                    if not _is_read_after(name, execution):
                        yield f"`{name}`, computed anew at {where}, is not used: the pass goes through the old one"


def _called(makers: tuple[Execution, ...]) -> set[str]:
    """What was called to make the old part, as it is written."""
    written = (call for maker in makers for statement in maker.statements for call in calls(statement))
    return {name for call in written if (name := text(call.func)) is not None}


def _is_forward(call: ast.Call, execution: Execution, case: Case) -> bool:
    """Whether a call runs a module, which is there for its result; another function may be there for what it does."""
    for entered in execution.called:
        matched = case.stores.match(entered)
        if matched is not None and matched.node is call and matched.scope.name == "forward":
            return True
    return False


def _is_read_after(name: str, execution: Execution) -> bool:
    later = execution.call.executions[execution.position + 1 :]
    return any(
        isinstance(node, ast.Name) and node.id == name
        for each in later
        for statement in each.statements
        for node in loads(statement)
    )
