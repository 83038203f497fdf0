"""Walks live graphs: which ops a pass will run, which leaves it reaches. Reads no saved value, creates no op."""

import sys
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from gradsan.knowledge.tensors import kinds
from gradsan.observe.deep_graphs import part_stretches
from gradsan.observe.private import NO_NUMBER

Node = Any  # autograd's ops have no public type
N = TypeVar("N", bound=Hashable)


def roots_of(tensors: Iterable[Any]) -> list[Node]:
    """The ops behind what a pass was asked for: tensors, or gradient edges. The engine reads them in the same way."""
    nodes = (
        getattr(each, "grad_fn", None) if hasattr(each, "grad_fn") else getattr(each, "node", None) for each in tensors
    )
    return [node for node in nodes if node is not None]


def reach(roots: Iterable[Node], at_most: int = sys.maxsize) -> dict[Node, tuple[Node, ...]]:
    """Every node below these roots, or as many of them, with the nodes its gradients flow to.

    Written out, for a graph may have a million ops: comprehensions and generators would take half as long again.
    """
    below: dict[Node, tuple[Node, ...]] = {}
    stack = list(roots)
    while stack and len(below) < at_most:
        node = stack.pop()
        if node in below:
            continue
        following = []
        for each, _ in node.next_functions:
            if each is not None:
                following.append(each)
                if each not in below:
                    stack.append(each)
        below[node] = tuple(following)
    part_stretches(below)
    return below


def walked(starts: Iterable[N], following: Callable[[N], Iterable[N]], most: int = sys.maxsize) -> dict[N, None]:
    """These and all that they lead to, step by step, in the order of the walk; no more than `most`."""
    found: dict[N, None] = {}
    stack = list(starts)
    while stack and len(found) < most:
        each = stack.pop()
        if each not in found:
            found[each] = None
            stack.extend(following(each))
    return found


def inputs_of(node: Node) -> list[Node]:
    """The nodes that a node's gradients flow to."""
    return [each for each, _ in node.next_functions if each is not None]


def inverted(below: Mapping[Node, Iterable[Node]]) -> dict[Node, list[Node]]:
    """For every node, those that lead to it."""
    above: dict[Node, list[Node]] = defaultdict(list)
    for node, following in below.items():
        for each in following:
            above[each].append(node)
    return above


def leading_to(below: dict[Node, tuple[Node, ...]], targets: Iterable[Node], *, inclusive: bool) -> Collection[Node]:
    """The nodes on a path to one of the targets: what a pass with `inputs=` runs. See `lifecycle.engine`."""
    above, targets = inverted(below), list(targets)
    starts = targets if inclusive else [node for each in targets for node in above.get(each, ())]
    return walked(starts, lambda node: above.get(node, ()))


def run_towards(below: dict[Node, tuple[Node, ...]], inputs: Iterable[Any], *, accumulates: bool) -> Collection[Node]:
    """The nodes that a pass runs: all, or with `inputs` those that are on a path to one of these tensors."""
    wanted = {id(each) for each in inputs}
    if not wanted:
        return below
    leaves = [node for node in below if id(getattr(node, "variable", None)) in wanted]
    return leading_to(below, [*leaves, *(node for node in roots_of(inputs) if node in below)], inclusive=accumulates)


def loss_chain(roots: Iterable[Node]) -> list[Node]:
    """The roots, and what is behind ops that only add up, scale or re-shape one number: the terms of a loss."""
    return list(walked(filter(_is_op, roots), lambda node: filter(_is_op, _summed(node)), _LONGEST_CHAIN))


def _summed(node: Node) -> list[Node]:
    """What an op adds up, scales or re-shapes; nothing where it does something else."""
    if kind_of(node) == "Stack":  # several losses, to be added up
        return list(filter(_is_one_number, inputs_of(node)))
    return inputs_of(node) if adds_up(node) else []


def sums_of(roots: Iterable[Node]) -> list[Node]:
    """The ops that add two terms of a loss, if one of them adds something that has no graph."""
    sums = [each for each in loss_chain(roots) if is_sum(each) and _is_one_number(each)]
    return sums if any(following is None for each in sums for following, _ in each.next_functions) else []


def is_sum(node: Node) -> bool:
    """Whether an op adds one tensor to another, or takes it away, in the order in which that is written."""
    return kind_of(node) in {"Add", "Sub"}


def terms_of(roots: Iterable[Node]) -> list[Node]:
    """Those of the same ops that are losses by themselves, or terms that are only added up.

    What is scaled before it is added, as in `0.1 * penalty` or in a policy's `-log_prob * advantage`, is what a new
    term was made of.
    """

    def further(each: tuple[Node, bool]) -> list[tuple[Node, bool]]:
        node, is_term = each
        summed = _summed(node)
        if is_term and len(summed) == 1 and kind_of(node) in _SCALING:
            return []
        return [(term, is_term or len(summed) > 1) for term in filter(_is_op, summed)]

    found = walked(((root, False) for root in filter(_is_op, roots)), further, _LONGEST_CHAIN)
    return [node for node, _ in found]


def _is_op(node: Node) -> bool:
    """Whether it is no leaf."""
    return bool(node._sequence_nr() != NO_NUMBER)  # noqa: SLF001 # creation_number() costs a call more


def adds_up(node: Node) -> bool:
    """Whether an op only adds up, scales or re-shapes one number; a product of two graphs does not."""
    kind = kind_of(node)
    is_product = kind in _SCALING and len(inputs_of(node)) > 1
    return kind in _LINEAR and not is_product and _is_one_number(node)


def linear_terms(roots: Iterable[Node]) -> list[Node]:
    """The roots, and what is behind ops that only add up, scale or re-shape: terms, of whatever shape."""

    def further(node: Node) -> list[Node]:
        kind, given = kind_of(node), inputs_of(node)
        is_product = kind in _SCALING and len(given) > 1
        return list(filter(_is_op, given)) if kind in _LINEAR and not is_product else []

    return list(walked(filter(_is_op, roots), further, _LONGEST_CHAIN))


def mixing(above: list[Node]) -> Node | None:
    """The nearest op that adds what is below to something else; None: it does otherwise to it first."""
    for node in reversed(above):
        if kind_of(node) not in _LINEAR | _BETWEEN:
            return None
        if len(inputs_of(node)) > 1:
            return node if is_sum(node) or kind_of(node) in _BETWEEN else None
    return None


def kind_of(node: Node) -> str:
    """The op's name without its ending: "Mul"."""
    return str(node.name()).split("Backward")[0]


def cuts_up(node: Node) -> bool:
    """Whether an op gives its input in several parts: `split`, `chunk`, a loop over a tensor."""
    return kind_of(node) in REARRANGING and len(getattr(node, "_input_metadata", ())) > 1


def is_operand(above: list[Node]) -> bool:
    """Whether what is below is multiplied with something as features and weights are, not compared or weighed by."""
    kinds = (kind_of(node) for node in reversed(above))
    return next((kind for kind in kinds if kind not in REARRANGING), None) in _CONTRACTING


def ranges_of(nodes: Iterable[Node]) -> "array[int]":
    """The creation numbers of some ops, packed."""
    numbers = sorted(each._sequence_nr() for each in nodes)  # noqa: SLF001 # creation_number() costs a call more
    packed = array("Q")
    for number in numbers:
        if number == NO_NUMBER:
            break
        if packed and packed[-1] >= number:
            packed[-1] = number + 1
        else:
            packed.extend((number, number + 1))
    return packed


def leaves_of(nodes: Iterable[Node]) -> Iterator[Any]:
    """The leaf tensors among some nodes."""
    for node in nodes:
        if node._sequence_nr() == NO_NUMBER:  # noqa: SLF001 # as above
            leaf = getattr(node, "variable", None)
            if leaf is not None:
                yield leaf


def version_of(tensor: Any) -> int:  # noqa: ANN401 # a tensor
    """How often a tensor was edited, as autograd counts it."""
    return 0 if tensor.is_inference() else int(tensor._version)  # noqa: SLF001 # such a tensor counts nothing


def parameters_behind(node: Node, below: dict[Node, tuple[Node, ...]]) -> list[Any]:
    """The leaves among an op's inputs, also through ops that only re-arrange them."""
    behind: list[Node] = []
    stack = list(below[node])
    while stack:
        each = stack.pop()
        behind.append(each)
        if each._sequence_nr() != NO_NUMBER and kind_of(each) in REARRANGING:  # noqa: SLF001 # as above
            stack.extend(below[each])
    return list(leaves_of(behind))


def own_backwards(nodes: Iterable[Node]) -> dict[str, list[Node]]:
    """Those among some ops whose backward the program wrote itself, by the names of their Functions."""
    found: dict[str, list[Node]] = {}
    for node in nodes:
        function = getattr(node, "_forward_cls", None)
        if function is not None and not function.__module__.startswith("torch."):
            found.setdefault(function.__name__, []).append(node)
    return found


def saves_values(node: Node) -> bool:
    """Whether an op of this kind keeps saved values, read from its kind alone: reading them could run user code."""
    kind = type(node)
    known = _SAVES.get(kind)
    if known is None:
        # A custom Function's `saved_tensors` is there whether it saved any or not.
        known = _SAVES[kind] = any(name.startswith("_raw_saved_") or name == "saved_tensors" for name in dir(kind))
    return known or writes_through_view(node)


def writes_through_view(node: Node) -> bool:
    """Whether an op stands for an edit in place of a part of what its first input gave, and hides the op inside."""
    return type(node).__name__ == "CopySlices"  # its own name has a namespace before it, in some versions


def about_bytes(node: Node) -> int:
    """The size of an op's output: about what it saves. What a freed op had saved cannot be read any more."""
    size = 0
    for each in getattr(node, "_input_metadata", None) or ():
        elements = 1
        for length in each.shape:
            elements *= int(length)
        size += elements * each.dtype.itemsize
    return size


_SAVES: dict[type, bool] = {}
_LONGEST_CHAIN = 256  # ops; a total of more terms than that is a total all the same

# Ops whose result is the memory of what they were given, seen otherwise.
VIEWING = kinds(lambda row: row.shares)
# Ops that re-arrange: what is behind them is still the same thing.
REARRANGING = kinds(lambda row: row.rearranges)
_CONTRACTING = kinds(lambda row: row.contracts)
_SCALING = kinds(lambda row: row.linear == "scales")
_LINEAR = kinds(lambda row: row.linear is not None)
_BETWEEN = {"Lerp"}  # two values, by a weight


def _is_one_number(node: Node) -> bool:
    metadata = getattr(node, "_input_metadata", None)
    if not metadata:
        return True
    return all(size == 1 for size in metadata[0].shape)
