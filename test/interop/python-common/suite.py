"""The fixtures of a suite. Its `conftest.py` says with the fixtures `peer_type` and `plays` which client plays what."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from example_server import GRPC_AGENTS, ExampleServer
from peer import Peer
from play import Play, play


@pytest.fixture(scope='session')
async def server() -> AsyncIterator[ExampleServer]:
    async with ExampleServer() as running:
        yield running


@pytest.fixture(scope='session')
async def grpc_server() -> AsyncIterator[ExampleServer]:
    async with ExampleServer(GRPC_AGENTS) as running:
        yield running


@pytest.fixture(scope='session')
async def connect(server: ExampleServer, grpc_server: ExampleServer, peer_type):
    """Connects to an agent over a binding; at the end nothing may have leaked into any error."""
    peers: dict[tuple[str, str], Peer] = {}

    async def of(agent: str, binding: str) -> Peer:
        if (agent, binding) not in peers:
            url = (grpc_server if binding == 'GRPC' else server).url
            peers[agent, binding] = await peer_type.connect(f'{url}{agent}', binding)
        return peers[agent, binding]

    yield of
    leaks = [leak for peer in peers.values() for leak in peer.leaks]
    for peer in peers.values():
        await peer.close()
    assert leaks == []


@pytest.fixture(scope='session', autouse=True)
async def outcomes(connect, plays: list[Play]) -> list[asyncio.Task]:
    """All scenarios run at the same time, beside the other tests; each test of one waits for its own."""
    peers = {(agent, binding): await connect(agent, binding) for agent, _, binding, _ in plays}
    return [
        asyncio.create_task(play(peers[agent, binding], scenario, mode)) for agent, scenario, binding, mode in plays
    ]
