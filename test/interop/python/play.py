"""Plays the scenarios of the table, in every way a message can be sent."""

import time
from typing import Any
from uuid import uuid4

from a2a.utils.errors import UnsupportedOperationError
from python_peer import BINDINGS, Json, PythonPeer
from scenarios import SCENARIOS, mismatches

ENDED = {f'TASK_STATE_{state}' for state in ('COMPLETED', 'FAILED', 'CANCELED', 'REJECTED')}


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


PLAYS = [
    (agent, scenario, binding, mode)
    for scenario in SCENARIOS
    for agent in _agents(scenario)
    for binding in BINDINGS
    for mode in _modes(scenario, agent, binding)
]
IDS = [f'{agent} {scenario["name"]}, {binding}, {mode}' for agent, scenario, binding, mode in PLAYS]


def expect(peer: PythonPeer, pattern: Any, value: Any) -> None:
    # In 0.3 over HTTP+JSON this client takes the base64 off the content of files twice.
    found = mismatches(_without_raw(pattern) if peer.garbles_files else pattern, value)
    assert not found, found


def _without_raw(pattern: Any) -> Any:
    if isinstance(pattern, list):
        return [_without_raw(item) for item in pattern]
    if not isinstance(pattern, dict):
        return pattern
    return {name: _without_raw(member) for name, member in pattern.items() if name != 'raw'}


async def play(peer: PythonPeer, scenario: Json, mode: str) -> None:
    context_id = str(uuid4())
    sent: list[str] = []
    task: Json | None = None
    for turn in scenario['turns']:
        message_id = f'{turn["send"].get("messageId", "message")}-{uuid4()}'
        sent.append(message_id)
        follows = {'contextId': context_id} if task is None else {'taskId': task['id']}
        message = {'parts': turn['send']['parts'], 'messageId': message_id, **follows}

        begun = time.monotonic()
        outcome = await PLAYERS[mode](peer, turn, message)
        assert (time.monotonic() - begun) * 1000 >= turn.get('atLeastMs', 0)

        if 'message' in turn:
            expect(peer, turn['message'], outcome.get('message'))
            assert outcome['message']['contextId'] == context_id
            continue
        task = await peer.task(outcome['task']['id'])
        expect(peer, turn['task'], task)
        assert task['contextId'] == context_id
        history = task.get('history', [])
        assert len({one['messageId'] for one in history}) == len(history)
        assert [one['messageId'] for one in history if one['role'] == 'ROLE_USER'] == sent
    if task is not None and peer.version == '1.0':
        page = await peer.list(contextId=context_id, includeArtifacts=True)
        assert page['totalSize'] == 1
        assert [one['id'] for one in page['tasks']] == [task['id']]
        assert page['tasks'][0]['status'] == task['status']
        assert page['tasks'][0].get('artifacts') == task.get('artifacts')


async def play_stream(peer: PythonPeer, turn: Json, message: Json) -> Json:
    events = [event async for event in peer.stream(message)]
    expect(peer, turn['stream'], events)
    bodies = [next(iter(event.values())) for event in events]
    assert len({body['contextId'] for body in bodies}) == 1
    assert len({body['id'] if 'task' in event else body.get('taskId') for event, body in zip(events, bodies)}) == 1
    return events[0]


async def play_blocking(peer: PythonPeer, turn: Json, message: Json) -> Json:
    answer = await peer.send(message)
    if 'task' in turn:
        expect(peer, turn['task'], answer.get('task'))
    return answer


async def play_immediate(peer: PythonPeer, turn: Json, message: Json) -> Json:
    answer = await peer.send(message, returnImmediately=True)
    if 'task' not in answer:
        return answer
    if 'taskId' not in message:
        assert answer['task']['status']['state'] in ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING')
    await _settled(peer, answer['task']['id'], turn['task']['status'])
    return answer


async def _settled(peer: PythonPeer, task_id: str, status: Any) -> None:
    """Waits, by subscribing, until the task shows the state that the turn leads to."""

    def done(task: Json) -> bool:
        return mismatches(status, task['status']) == []

    if done(await peer.task(task_id)):
        return
    events = peer.subscribe(task_id)
    try:
        async for event in events:
            change = event.get('statusUpdate') or event.get('task')
            if change and (change['status']['state'] in ENDED or done(change)):
                break
    except UnsupportedOperationError:
        # It has ended between the look and the subscription.
        assert done(await peer.task(task_id))
    finally:
        await events.aclose()


PLAYERS = {'stream': play_stream, 'blocking': play_blocking, 'immediate': play_immediate}
