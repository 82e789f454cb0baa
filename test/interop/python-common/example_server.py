"""The real server process of the example agents, on a free port, with SQLite in a folder of its own."""

import asyncio
import os
import shutil
import socket
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MAIN = ROOT / 'examples' / 'agents' / 'dist' / 'main.js'
# The example agents, each with a port of gRPC.
GRPC_AGENTS = ROOT / 'test' / 'interop' / 'grpc-agents.mjs'


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class ExampleServer:
    """Use it with `async with`; the folder of its data goes with it."""

    def __init__(self, program: Path = MAIN) -> None:
        self._program = program

    async def __aenter__(self) -> 'ExampleServer':
        port = free_port()
        self.url = f'http://127.0.0.1:{port}'
        self._folder = tempfile.mkdtemp(prefix='parley-interop-')
        self._process = await asyncio.create_subprocess_exec(
            os.environ.get('NODE', 'node'),
            str(self._program),
            env={
                'PATH': os.environ['PATH'],
                'HOST': '127.0.0.1',
                'PORT': str(port),
                'DATABASE_URL': f'sqlite:{self._folder}/agents.db',
                'LOG_LEVEL': 'info',
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed = b''
        while f'listening on {self.url}'.encode() not in printed:
            line = await self._process.stdout.readline()
            if not line:
                raise RuntimeError(f'the server ended: {printed.decode()}')
            printed += line
        self._drain = asyncio.create_task(self._process.stdout.read())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.kill()
        await self._process.wait()
        await self._drain
        shutil.rmtree(self._folder, ignore_errors=True)
