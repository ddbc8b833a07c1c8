"""The official SDK on uvicorn and nothing else: one tool that reads a file. What load.py holds the server against.

python benchmarks/yardstick.py VAULT
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

vault = Path(sys.argv[1])


async def tools(_: Any, __: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name="read_note", input_schema={"type": "object"})])


async def call(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    text = (vault / (params.arguments or {})["path"]).read_text()
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


manager = StreamableHTTPSessionManager(
    Server("yardstick", on_list_tools=tools, on_call_tool=call), json_response=True
)


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "lifespan":
        await manager.handle_request(scope, receive, send)
        return
    await receive()
    async with manager.run():
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


class Listener(uvicorn.Server):
    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        print(f"listening on http://{host}:{port}", file=sys.stderr, flush=True)


Listener(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", timeout_keep_alive=120)).run()
