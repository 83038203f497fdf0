"""Where checkpoints are told to be re-entrant: at their calls, or where the program writes the option down."""

import ast
from collections.abc import Iterable

from gradsan.fix.writing.drafting import Draft
from gradsan.knowledge.effects import does
from gradsan.source.arguments import with_argument
from gradsan.source.names import called_name, nodes, says_true
from gradsan.source.tree import Tree

_OPTION = "use_reentrant"


def not_reentrant(trees: Iterable[Tree]) -> Draft | None:
    """`use_reentrant=False` in all of them; None where no checkpoint is found."""
    draft = Draft()
    for tree in trees:
        for node in nodes(tree.module):
            match node:
                case ast.Call() if does(called_name(node), "checkpoints") and not _is_given_options(node):
                    draft.replace(tree, node, with_argument(tree.text(node), _OPTION, "False"))
                case ast.Call():
                    for each in node.keywords:
                        if each.arg == _OPTION and says_true(each.value):
                            draft.replace(tree, each.value, "False")
                case ast.Dict():
                    for key, value in zip(node.keys, node.values, strict=True):
                        if isinstance(key, ast.Constant) and key.value == _OPTION and says_true(value):
                            draft.replace(tree, value, "False")
    return draft if draft.edits() else None


def _is_given_options(call: ast.Call) -> bool:
    """Whether it takes its options from a dict: `checkpoint(block, x, **options)`."""
    return any(each.arg is None for each in call.keywords)
