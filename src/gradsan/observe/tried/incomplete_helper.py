import ast
from collections.abc import Iterator

from gradsan.facts.incident import SecondPass
from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.trace import Execution
from gradsan.observe.tried.belief import Belief, Case, place
from gradsan.source.stores import text


class IncompleteHelper(Belief):
    """A function of the user's detaches what it is given, and passes some kind of container on as it is."""

    @classmethod
    def found(cls, case: Case) -> Iterator[Tried]:
        """What was tried."""
        if case.culprit is None or not isinstance(case.incident, SecondPass):
            return
        freed, whole, running = case.incident.freeing.begin, case.culprit.partition("[")[0], case.running()
        for execution, statement in case.since_created():
            if execution.number < freed or execution in running:
                continue
            match statement:
                case ast.Assign(targets=[target], value=ast.Call(args=args) as call) if (
                    text(target) == whole
                    and whole in map(text, args)
                    and _enters_one_that_detaches(execution, call, case)
                ):
                    where = place(execution, statement.lineno)
                    yield Tried(
                        f"`{ast.unparse(call)}` at {where} detaches some of what it is given, but not all: "
                        f"`{case.culprit}` leads to the old graph after it"
                    )


def _enters_one_that_detaches(execution: Execution, call: ast.Call, case: Case) -> bool:
    for entered in execution.called:
        matched = case.stores.match(entered)
        if matched is not None and matched.node is call and entered.scope is not None:
            written = (node for line in entered.scope.by_line.values() for each in line for node in ast.walk(each))
            return any(isinstance(node, ast.Attribute) and node.attr in {"detach", "detach_"} for node in written)
    return False
