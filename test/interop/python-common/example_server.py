"""The real server process of the example agents, on a free port, with SQLite in its own folder."""

import asyncio
import os
import shutil
import socket
import tempfile
from pathlib import Path

from planted_secrets import check_output

ROOT = Path(__file__).resolve().parents[3]
MAIN = ROOT / 'examples' / 'agents' / 'dist' / 'main.js'
# The example agents, each with a port of gRPC.
GRPC_AGENTS = ROOT / 'test' / 'interop' / 'grpc-agents.mjs'


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class ExampleServer:
    """An async context manager. Its end deletes the folder of the data, and fails if the output has a planted secret."""

    def __init__(self, program: Path = MAIN) -> None:
        self._program = program
        self._output = b''
        self._changed = asyncio.Event()

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
                'LOG_LEVEL': 'debug',
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        self._reading = asyncio.create_task(self._read())
        await self.printed(f'listening on {self.url}')
        return self

    async def printed(self, text: str) -> None:
        """Waits until the server has printed a text."""
        while text.encode() not in self._output:
            if self._reading.done():
                raise RuntimeError(f'the server ended: {self._output.decode()}')
            self._changed.clear()
            await self._changed.wait()

    async def _read(self) -> None:
        while chunk := await self._process.stdout.read(65_536):
            self._output += chunk
            self._changed.set()
        asyncio.get_running_loop().call_soon(self._changed.set)

    async def __aexit__(self, *_: object) -> None:
        self._process.kill()
        await self._process.wait()
        await self._reading
        shutil.rmtree(self._folder, ignore_errors=True)
        check_output('the example server', self._output)
