"""A server of a served agent on a free port of loopback."""

import asyncio
import random
import socket
import threading

import uvicorn

QUESTION = "Which day?"
SERVED_BYTES = bytes(range(256))


def free_port():
    """A port below those that a system gives to connections, so that none takes it before the server does."""
    while True:
        port = random.randrange(20_000, 32_768)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


async def serve(app, port):
    """Serves an ASGI app until the process ends. Returns once it accepts connections."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        await asyncio.sleep(0.02)
