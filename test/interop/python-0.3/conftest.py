import asyncio
from collections.abc import AsyncIterator

import pytest
from example_server import ExampleServer
from peer03 import Peer03
from play03 import PLAYS, play


@pytest.fixture(scope='session')
async def server() -> AsyncIterator[ExampleServer]:
    async with ExampleServer() as running:
        yield running


@pytest.fixture(scope='session')
async def connect(server: ExampleServer):
    """Connects to an agent over a binding; at the end nothing may have leaked into any error."""
    peers: dict[tuple[str, str], Peer03] = {}

    async def of(agent: str, binding: str) -> Peer03:
        if (agent, binding) not in peers:
            peers[agent, binding] = await Peer03.connect(f'{server.url}{agent}', binding)
        return peers[agent, binding]

    yield of
    leaks = [leak for peer in peers.values() for leak in peer.leaks]
    for peer in peers.values():
        await peer.close()
    assert leaks == []


@pytest.fixture(scope='session', autouse=True)
async def outcomes(connect) -> list[asyncio.Task]:
    """All scenarios run at the same time, beside the other tests; each test of one waits for its own."""
    peers = {(agent, binding): await connect(agent, binding) for agent, _, binding, _ in PLAYS}
    return [
        asyncio.create_task(play(peers[agent, binding], scenario, mode)) for agent, scenario, binding, mode in PLAYS
    ]
