"""MCP over Streamable HTTP: the official SDK's sessions on uvicorn, under guards of our own."""
