"""Which scenarios a client of 0.3 plays, in every way that version can send a message."""

import os

from peer import BINDINGS, Json
from play import Play, play_ids
from scenarios import SCENARIOS

# The agent of `/spec` speaks 0.3 at `/spec03`.
AGENTS = {'/spec': '/spec03', '/': '/'}


def _modes(scenario: Json, binding: str) -> list[str]:
    if scenario.get('once'):
        # They take half a minute, and show nothing of the version.
        return ['stream'] if 'TEST_LONG' in os.environ else []
    # Over HTTP+JSON this client does not send a `blocking` that is false.
    return ['stream', 'blocking', 'immediate'] if binding == 'JSONRPC' else ['stream', 'blocking']


PLAYS: list[Play] = [
    (AGENTS[agent], scenario, binding, mode)
    for scenario in SCENARIOS
    for agent in scenario['agents']
    if agent in AGENTS
    for binding in BINDINGS
    for mode in _modes(scenario, binding)
]
IDS = play_ids(PLAYS)
