"""The real server process of the example agents, on a free port, with SQLite in its own folder."""

import asyncio
import os
import re
import shutil
import tempfile
from pathlib import Path

from planted_secrets import check_output

ROOT = Path(__file__).resolve().parents[3]
MAIN = ROOT / 'examples' / 'agents' / 'dist' / 'main.js'
# The example agents, each with a port of gRPC.
GRPC_AGENTS = ROOT / 'test' / 'interop' / 'grpc-agents.mjs'


class ExampleServer:
    """An async context manager. Its end deletes the folder of the data, and fails if the output has a planted secret."""

    def __init__(self, program: Path = MAIN) -> None:
        self._program = program
        self._output = b''
        self._changed = asyncio.Event()

    async def __aenter__(self) -> 'ExampleServer':
        self._folder = tempfile.mkdtemp(prefix='parley-interop-')
        self._process = await asyncio.create_subprocess_exec(
            os.environ.get('NODE', 'node'),
            str(self._program),
            env={
                'PATH': os.environ['PATH'],
                'HOST': '127.0.0.1',
                'PORT': '0',
                'DATABASE_URL': f'sqlite:{self._folder}/agents.db',
                'LOG_LEVEL': 'debug',
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        self._reading = asyncio.create_task(self._read())
        self.url = (await self.printed(rb'"listening on (http[^"]+)"'))[1].decode()
        return self

    async def printed(self, pattern: bytes) -> re.Match[bytes]:
        """Waits until the server has printed what a pattern finds."""
        while (found := re.search(pattern, self._output)) is None:
            if self._reading.done():
                raise RuntimeError(f'the server ended: {self._output.decode()}')
            self._changed.clear()
            await self._changed.wait()
        return found

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
