"""Plays the scenarios of the table with a client of 0.3, in every way that version can send a message."""

import os
import time
from typing import Any
from uuid import uuid4

from a2a.types import MessageSendConfiguration
from peer03 import BINDINGS, Json, Peer03
from rest_habits import without_times
from scenarios import SCENARIOS, mismatches

# The agent of `/spec` speaks 0.3 at `/spec03`.
AGENTS = {'/spec': '/spec03', '/': '/'}


def _modes(scenario: Json, binding: str) -> list[str]:
    if scenario.get('once'):
        # They take half a minute, and show nothing of the version.
        return ['stream'] if 'TEST_LONG' in os.environ else []
    # Over HTTP+JSON this client does not send a `blocking` that is false.
    return ['stream', 'blocking', 'immediate'] if binding == 'JSONRPC' else ['stream', 'blocking']


PLAYS = [
    (AGENTS[agent], scenario, binding, mode)
    for scenario in SCENARIOS
    for agent in scenario['agents']
    if agent in AGENTS
    for binding in BINDINGS
    for mode in _modes(scenario, binding)
]
IDS = [f'{agent} {scenario["name"]}, {binding}, {mode}' for agent, scenario, binding, mode in PLAYS]


def expect(peer: Peer03, pattern: Any, value: Any) -> None:
    found = differences(peer, pattern, value)
    assert not found, found


def differences(peer: Peer03, pattern: Any, value: Any) -> list[str]:
    return mismatches(without_times(pattern) if peer.over_rest else pattern, value)


async def play(peer: Peer03, scenario: Json, mode: str) -> None:
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


async def play_stream(peer: Peer03, turn: Json, message: Json) -> Json:
    events = [event async for event in peer.stream(message)]
    expect(peer, turn['stream'], events)
    bodies = [next(iter(event.values())) for event in events]
    assert len({body['contextId'] for body in bodies}) == 1
    assert len({body['id'] if 'task' in event else body.get('taskId') for event, body in zip(events, bodies)}) == 1
    finals = [event['statusUpdate']['final'] for event in events if 'statusUpdate' in event]
    assert finals == [False] * (len(finals) - 1) + [True] * min(1, len(finals))
    return events[0]


async def play_blocking(peer: Peer03, turn: Json, message: Json) -> Json:
    answer = await peer.send(message)
    if 'task' in turn:
        expect(peer, turn['task'], answer.get('task'))
    return answer


async def play_immediate(peer: Peer03, turn: Json, message: Json) -> Json:
    answer = await peer.send(message, MessageSendConfiguration(blocking=False))
    if 'task' not in answer:
        return answer
    if 'taskId' not in message:
        assert answer['task']['status']['state'] in ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING')
    await settled(peer, answer['task']['id'], turn['task']['status'])
    return answer


async def settled(peer: Peer03, task_id: str, status: Json) -> None:
    """Waits, by subscribing, until the task shows the state that the turn leads to."""

    async def done() -> bool:
        return differences(peer, status, (await peer.task(task_id))['status']) == []

    if await done():
        return
    events = peer.subscribe(task_id)
    try:
        async for event in events:
            change = event.get('statusUpdate') or event.get('task')
            if change and differences(peer, status, change['status']) == []:
                break
    except Exception:
        # It may have ended between the look and the subscription.
        if not await done():
            raise
    finally:
        await events.aclose()


PLAYERS = {'stream': play_stream, 'blocking': play_blocking, 'immediate': play_immediate}
