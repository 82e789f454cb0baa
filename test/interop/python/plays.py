"""Which scenarios the client of 1.0 plays, and how."""

from peer import BINDINGS, Json
from play import Play, play_ids
from scenarios import SCENARIOS


def _modes(scenario: Json, agent: str, binding: str) -> list[str]:
    if 'stream' not in scenario['turns'][0]:
        return ['blocking']
    if scenario.get('once'):
        return ['stream']
    # In 0.3 this client cannot say over HTTP+JSON that it does not wait: it leaves out what is false.
    waits_always = agent == '/spec03' and binding == 'HTTP+JSON'
    return ['stream', 'blocking'] if waits_always else ['stream', 'blocking', 'immediate']


def _agents(scenario: Json) -> list[str]:
    # The agent of `/spec` speaks 0.3 at `/spec03`: the client has to notice.
    falls_back = '/spec' in scenario['agents'] and not scenario.get('once')
    return scenario['agents'] + (['/spec03'] if falls_back else [])


PLAYS: list[Play] = [
    (agent, scenario, binding, mode)
    for scenario in SCENARIOS
    for agent in _agents(scenario)
    for binding in BINDINGS
    for mode in _modes(scenario, agent, binding)
]
IDS = play_ids(PLAYS)
