"""Every scenario of the example agents that speak 0.3, in every way a message can be sent."""

import asyncio

import pytest
from plays03 import IDS, PLAYS


@pytest.mark.parametrize('index', range(len(PLAYS)), ids=IDS)
async def test_scenario(outcomes: list[asyncio.Task], index: int) -> None:
    await outcomes[index]
