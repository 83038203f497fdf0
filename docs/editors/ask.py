"""What `gradsan server` finds in a text that is in no file yet."""

import asyncio
import sys
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

FILE = Path("docs/editors/new.py").absolute().as_uri()
TEXT = """\
import torch
model = torch.nn.Linear(3, 1)
total = 0
for batch in torch.ones(4, 8, 3):
    total = total + model(batch).mean()
    total.backward()
"""


async def main():
    client, said = LanguageClient("example", "1"), asyncio.get_running_loop().create_future()
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: said.set_result(params.diagnostics))
    await client.start_io(sys.executable, "-m", "gradsan", "server")
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    client.initialized(lsp.InitializedParams())
    text = lsp.TextDocumentItem(FILE, "python", 1, TEXT)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(text))
    for found in await said:
        print(f"line {found.range.start.line + 1}: {found.code} {found.message}")
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


asyncio.run(main())
