"""What an assistant asks, with the client of the official SDK."""

import asyncio
import sys

from mcp import Client, StdioServerParameters

SERVER = StdioServerParameters(command=sys.executable, args=["-m", "gradsan", "mcp", "--root", "examples"])


async def main():
    async with Client(SERVER) as client:
        answer = await client.call_tool("fix", {"paths": ["own_cell/broken.py"]})
        for found in answer.structured_content["diagnoses"]:
            print(found["code"], found["message"])
            print(found["fixes"][0]["diff"], end="")
        refused = await client.call_tool("check", {"paths": ["../src"]})
        print(refused.content[0].text)


asyncio.run(main())
