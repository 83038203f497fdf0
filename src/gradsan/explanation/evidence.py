"""Live evidence as the report of schema 1 carries it: flat keys that `fix/` reads back."""

import json
from collections.abc import Iterable

from gradsan.facts.culprit import shown
from gradsan.facts.incident import Stack
from gradsan.facts.live_evidence import Alive, Crossed, LiveEvidence, Tried

Evidence = dict[str, str | int]


def of_tried(tried: Iterable[Tried]) -> Evidence:
    """What the user has done already, where a fix can be built on it."""
    found = [
        {"what": each.what, "file": shown(each.file), "line": each.line, "name": each.name}
        for each in tried
        if each.what is not None
    ]
    return {"tried": _written(found)} if found else {}


def of_live(live: LiveEvidence) -> Evidence:
    """What the running program tells. A key that has nothing to say is left out."""
    keys: Evidence = {
        "graph_lines": "\n".join(f"{shown(each.file)}:{each.line}" for each in live.graph_lines),
        "graph_ops": " ".join(str(each.ops) for each in live.graph_lines),
        "passes_of_one_call": "yes" if live.is_one_call else "",
        "trained_names": "\n".join(f"{each.function}:{each.name}" for each in live.trained_names),
        **_of_alive(live.alive),
    }
    counted: Evidence = {} if live.freeing_places is None else {"freeing_places": live.freeing_places}
    crossings: Evidence = {} if live.crossings is None else {"crossings": _written(map(_of_crossed, live.crossings))}
    return counted | {key: value for key, value in keys.items() if value} | crossings


def _of_alive(alive: Alive) -> Evidence:
    found: Evidence = {} if alive.held is None else {"holds": str(alive.held)}
    access = alive.access
    if access is None:
        return found
    found |= {"reached_as": access.written, "reached_in": access.function}
    found |= {"reached_beside": "\n".join(access.beside)} if access.beside else {}
    return found | ({"reached_some": "yes"} if access.is_partial else {})


def _of_crossed(crossed: Crossed) -> dict[str, object]:
    culprit = crossed.culprit
    return {
        "name": None if culprit is None else culprit.name,
        "holder": None if culprit is None else culprit.holder,
        "alike": crossed.is_alike,
        "made": _stack(crossed.made.stack),
        "enters": _stack(crossed.enters.stack),
        "live": _of_alive(crossed.alive),
    }


def _stack(stack: Stack) -> list[list[str | int]]:
    return [[shown(each.file), each.line, each.function] for each in stack]


def _written(found: Iterable[dict[str, object]]) -> str:
    return json.dumps(list(found), separators=(",", ":"))
