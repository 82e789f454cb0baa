"""Plays the scenarios of the table, in every way a message can be sent."""

import time
from typing import Any
from uuid import uuid4

from peer import Json, Peer
from scenarios import mismatches

ENDED = {f'TASK_STATE_{state}' for state in ('COMPLETED', 'FAILED', 'CANCELED', 'REJECTED')}

# The path of the agent, the scenario, the binding and the way to send.
Play = tuple[str, Json, str, str]


def play_ids(plays: list[Play]) -> list[str]:
    return [f'{agent} {scenario["name"]}, {binding}, {mode}' for agent, scenario, binding, mode in plays]


def differences(peer: Peer, pattern: Any, value: Any) -> list[str]:
    return mismatches(peer.visible(pattern), value)


def expect(peer: Peer, pattern: Any, value: Any) -> None:
    found = differences(peer, pattern, value)
    assert not found, found


async def play(peer: Peer, scenario: Json, mode: str) -> None:
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
    if task is not None:
        await peer.check_task(task)


async def play_stream(peer: Peer, turn: Json, message: Json) -> Json:
    events = [event async for event in peer.stream(message)]
    expect(peer, turn['stream'], events)
    bodies = [next(iter(event.values())) for event in events]
    assert len({body['contextId'] for body in bodies}) == 1
    assert len({body['id'] if 'task' in event else body.get('taskId') for event, body in zip(events, bodies)}) == 1
    peer.check_stream(events)
    return events[0]


async def play_blocking(peer: Peer, turn: Json, message: Json) -> Json:
    answer = await peer.send(message)
    if 'task' in turn:
        expect(peer, turn['task'], answer.get('task'))
    return answer


async def play_immediate(peer: Peer, turn: Json, message: Json) -> Json:
    answer = await peer.send_immediately(message)
    if 'task' not in answer:
        return answer
    if 'taskId' not in message:
        assert answer['task']['status']['state'] in ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING')
    await _settled(peer, answer['task']['id'], turn['task']['status'])
    return answer


async def _settled(peer: Peer, task_id: str, status: Json) -> None:
    """Waits, by subscribing, until the task shows the state that the turn leads to."""

    def done(task: Json) -> bool:
        return differences(peer, status, task['status']) == []

    if done(await peer.task(task_id)):
        return
    events = peer.subscribe(task_id)
    try:
        async for event in events:
            change = event.get('statusUpdate') or event.get('task')
            if change and (change['status']['state'] in ENDED or done(change)):
                break
    except peer.ended_errors:
        # It has ended between the look and the subscription.
        assert done(await peer.task(task_id))
    finally:
        await events.aclose()


PLAYERS = {'stream': play_stream, 'blocking': play_blocking, 'immediate': play_immediate}
