"""Places in source as reports show them: a line, with the columns of what is meant on it."""

import ast
from dataclasses import dataclass

from gradsan.check.graph import Site
from gradsan.facts.location import Frame


@dataclass(frozen=True, slots=True)
class Spot(Frame):
    """A line with the columns of what is meant on it."""

    column: int = 1  # from 1
    end_line: int = 0  # inclusive
    end_column: int = 0  # exclusive


def stack_of(site: Site | None) -> tuple[Frame, ...]:
    """A place and the calls that led there, outermost first."""
    return () if site is None else tuple(spot(each) for each in site.outwards())[::-1]


def spot(site: Site) -> Spot:
    """A place as reports show it."""
    node = site.node
    line = getattr(node, "lineno", 1)
    if isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.With | ast.FunctionDef | ast.ClassDef):
        return Spot(site.code.file, line, site.code.function, node.col_offset + 1, line, node.col_offset + 4)
    return Spot(
        site.code.file,
        line,
        site.code.function,
        getattr(node, "col_offset", 0) + 1,
        getattr(node, "end_lineno", None) or line,
        int(getattr(node, "end_col_offset", None) or getattr(node, "col_offset", 0) or 0) + 1,
    )
