"""The tools of an assistant, in the words of the Model Context Protocol."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from mcp.server import MCPServer
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from gradsan.errors import GradsanError
from gradsan.explanation.own_report import version
from gradsan.plug.assistant import Answer, Assistant

_INSTRUCTIONS = (
    "Explains, finds and fixes errors of PyTorch's backward(), such as 'Trying to backward through the graph a second "
    "time'. Reports are JSON of schema 1. Paths are seen from the root of the project, and lie in it."
)
Paths = Annotated[list[str], Field(description="Files and folders; all of the project if there are none.")]


def server_of(root: Path, *, may_write: bool) -> MCPServer:
    """A server for one project."""
    assistant = Assistant(root.resolve(), may_write)
    server = MCPServer("gradsan", version=version(), instructions=_INSTRUCTIONS, log_level="WARNING")
    reading = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    writing = ToolAnnotations(read_only_hint=not may_write, destructive_hint=may_write, open_world_hint=False)

    @server.tool(annotations=reading)
    def check(paths: Paths = []) -> CallToolResult:  # noqa: B006 # the schema shows it, and nobody changes it
        """Find mistakes with PyTorch's autograd graph in source files, without running them."""
        return _answered(lambda: assistant.check(paths))

    @server.tool(annotations=reading)
    def explain(subject: str) -> CallToolResult:
        """Explain a code (GS103) or a name (carried-state), or read a saved report (FILE.json) of the project."""
        return _answered(lambda: assistant.explain(subject))

    @server.tool(annotations=writing)
    def fix(paths: Paths = [], *, write: bool = False) -> CallToolResult:  # noqa: B006 # as above
        """Show the fixes of what is found, as diffs; `write` those that are proved, where the user allows it."""
        return _answered(lambda: assistant.fix(paths, write=write))

    @server.tool(annotations=writing)
    def run(script: str, arguments: list[str] = [], timeout_s: float = 600.0) -> CallToolResult:  # noqa: B006 # as above
        """Run a Python program of the project, and explain its error and its silent problems.

        Unless the user allows writing, it runs in a sandbox: what it writes is gone when it ends.
        """
        return _answered(lambda: assistant.run(script, arguments, timeout_s))

    return server


def _answered(ask: Callable[[], Answer]) -> CallToolResult:
    """The report, and what else there is to say; a refusal is a sentence."""
    try:
        answer = ask()
    except GradsanError as error:
        return CallToolResult(content=[TextContent(text=str(error))], is_error=True)
    texts = [json.dumps(answer.report, indent=2), *([answer.said] if answer.said else [])]
    return CallToolResult(content=[TextContent(text=each) for each in texts], structured_content=answer.report)
