"""Names for what no variable held: what is called is named instead.

`creators` and `entering` are what was running when the op was created, and when it entered the later forward.
"""

import ast
from itertools import pairwise

from gradsan.observe.naming.calling import is_library, match
from gradsan.observe.naming.demands import Binding, Kind
from gradsan.observe.naming.trace import Execution
from gradsan.source.stores import assigned, text


def called_twice(creators: tuple[Execution, ...], entering: tuple[Execution, ...]) -> Binding | None:
    """The object that one statement calls both times, where the first call created the op and the second reused it.

    What it keeps, and where, is its library's business.
    """
    here = entering[-1]
    before = [
        inner for creator, inner in pairwise(creators) if creator is not here and creator.statements == here.statements
    ]
    matched = (match(inner.call, ()) for inner in before)
    names = (text(each.node.func) for each in matched if each is not None)
    return next((_called(name, before[0], here) for name in names if name is not None), None)


def handed_on(creators: tuple[Execution, ...], entering: tuple[Execution, ...]) -> Binding | None:
    """What one statement calls and hands on at once, as in `self.head(self.body(x))`."""
    here = entering[-1]
    arguments = (given for call in here.calls for given in call.args)
    nested = [given for given in arguments if isinstance(given, ast.Call) and not is_library(given)]
    name = text(nested[0].func) if here in creators and len(nested) == 1 else None
    if name is None or _created_elsewhere(nested[0], creators, here):
        return None
    return _called(name, here, here)


def _created_elsewhere(node: ast.Call, creators: tuple[Execution, ...], here: Execution) -> bool:
    """Whether a call entered a function of the user's, and another call of the statement created the op."""
    entered = [call for call in here.called if (found := match(call, ())) is not None and found.node is node]
    return bool(entered) and not any(each.call in entered for each in creators)


def _called(name: str, written: Execution, read: Execution) -> Binding:
    scope = read.call.scope
    kind: Kind = "local" if scope is not None and name in assigned(scope) else "global"
    return Binding(name, "attribute" if "." in name else kind, written, read, by_object=False)
