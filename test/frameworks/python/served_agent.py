"""A server of a served agent on a free port of loopback."""

import asyncio
import socket
import threading

import uvicorn

QUESTION = "Which day?"
SERVED_BYTES = bytes(range(256))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def serve(app, port):
    """Serves an ASGI app until the process ends. Returns once it accepts connections."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        await asyncio.sleep(0.02)
