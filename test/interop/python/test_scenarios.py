"""Every scenario of the example agents, in every way a message can be sent, with the official Python client."""

import asyncio

import pytest
from plays import IDS, PLAYS


@pytest.mark.parametrize('index', range(len(PLAYS)), ids=IDS)
async def test_scenario(outcomes: list[asyncio.Task], index: int) -> None:
    await outcomes[index]
