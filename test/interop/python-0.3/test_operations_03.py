"""What the scenarios do not show: cancelling, resubscribing, history, refusals, the card."""

import asyncio
from uuid import uuid4

import pytest
from peer import BINDINGS, Json, text
from peer03 import Peer03, refusal_of
from planted_secrets import planted

# What a binding says: the number of JSON-RPC or the status of HTTP.
REFUSED = {
    'task not found': {'JSONRPC': -32001, 'HTTP+JSON': 404, 'GRPC': 'NOT_FOUND'},
    'task not cancelable': {'JSONRPC': -32002, 'HTTP+JSON': 400, 'GRPC': 'UNIMPLEMENTED'},
    'push not supported': {'JSONRPC': -32003, 'HTTP+JSON': 400, 'GRPC': 'UNIMPLEMENTED'},
    'unsupported operation': {'JSONRPC': -32004, 'HTTP+JSON': 400, 'GRPC': 'UNIMPLEMENTED'},
    'invalid params': {'JSONRPC': -32602, 'HTTP+JSON': 400, 'GRPC': 'INVALID_ARGUMENT'},
}


@pytest.fixture(params=BINDINGS, scope='session')
def binding(request) -> str:
    return request.param


@pytest.fixture(params=['/spec03', '/'], scope='session')
def agent(request) -> str:
    return request.param


@pytest.fixture(scope='session')
async def peer(connect, agent: str, binding: str) -> Peer03:
    return await connect(agent, binding)


@pytest.fixture(scope='session')
async def spec(connect, binding: str) -> Peer03:
    return await connect('/spec03', binding)


def state_of(change: Json) -> str:
    return change['status']['state'].removeprefix('TASK_STATE_')


async def finished(peer: Peer03) -> str:
    message = text('x', messageId=f'tck-complete-task-{uuid4()}')
    return (await peer.send(message))['task']['id']


async def test_the_card_is_one_of_0_3(spec: Peer03) -> None:
    assert spec.card.protocol_version == '0.3.0'
    assert spec.card.preferred_transport == 'JSONRPC'
    assert len(spec.card.skills) == 8


async def test_cancel_ends_a_stream_of_a_working_task(spec: Peer03) -> None:
    events = []
    async for event in spec.stream(text('task-cancel')):
        events.append(event)
        if len(events) == 2:
            answer = await spec.cancel(events[0]['task']['id'])
    assert state_of(answer) == 'CANCELED'
    assert state_of(events[-1]['statusUpdate']) == 'CANCELED'
    assert events[-1]['statusUpdate']['final'] is True
    assert state_of(await spec.task(answer['id'])) == 'CANCELED'


async def test_cancel_ends_a_task_that_waits_and_is_refused_once_it_has_ended(peer: Peer03, binding: str) -> None:
    message = text('x', messageId=f'tck-input-required-{uuid4()}')
    task = (await peer.send(message))['task']
    assert state_of(task) == 'INPUT_REQUIRED'
    assert state_of(await peer.cancel(task['id'])) == 'CANCELED'
    assert await refusal_of(peer.cancel(task['id'])) == REFUSED['task not cancelable'][binding]


async def test_resubscribing_shows_the_task_and_the_rest(spec: Peer03) -> None:
    begun = spec.stream(text('streaming'))
    task_id = (await anext(begun))['task']['id']
    await begun.aclose()

    async def watch(leave_after: int = 1000) -> list[Json]:
        events: list[Json] = []
        stream = spec.subscribe(task_id)
        async for event in stream:
            events.append(event)
            if len(events) >= leave_after:
                break
        await stream.aclose()
        return events

    first, second, third = await asyncio.gather(watch(), watch(2), watch())
    assert len(second) == 2
    for events in (first, third):
        assert 'task' in events[0]
        assert state_of(events[-1]['statusUpdate']) == 'COMPLETED'
        assert events[-1]['statusUpdate']['final'] is True
        assert all(event['statusUpdate']['final'] is False for event in events[1:-1] if 'statusUpdate' in event)
    assert first[-3:] == third[-3:]


async def test_history_comes_whole_or_as_the_last_ones(spec: Peer03) -> None:
    task_id = (await spec.send(text('multi-turn')))['task']['id']
    await spec.send(text('second', taskId=task_id))
    whole = (await spec.task(task_id))['history']
    assert [part['parts'][0]['text'] for part in whole if part['role'] == 'ROLE_USER'] == ['multi-turn', 'second']
    assert (await spec.task(task_id, 1))['history'] == whole[-1:]


async def test_push_is_refused_where_the_card_does_not_offer_it(spec: Peer03, binding: str) -> None:
    call = spec.set_callback(str(uuid4()), f'http://127.0.0.1:9/hook?key={planted("query")}')
    assert await refusal_of(call) == REFUSED['push not supported'][binding]


async def test_unknown_tasks_are_not_found(peer: Peer03, binding: str) -> None:
    not_found = REFUSED['task not found'][binding]
    unknown = str(uuid4())
    assert await refusal_of(peer.task(unknown)) == not_found
    assert await refusal_of(peer.cancel(unknown)) == not_found
    assert await refusal_of(peer.send(text('x', taskId=unknown))) == not_found
    # Over HTTP+JSON this client does not tell a stream that is refused from one that breaks.
    if binding != 'HTTP+JSON':
        assert await refusal_of(peer.stream(text('x', taskId=unknown))) == not_found
        assert await refusal_of(peer.subscribe(unknown)) == not_found


async def test_a_finished_task_takes_nothing_more(peer: Peer03, binding: str) -> None:
    task_id = await finished(peer)
    unsupported = REFUSED['unsupported operation'][binding]
    assert await refusal_of(peer.send(text('more', taskId=task_id))) == unsupported
    if binding != 'HTTP+JSON':
        assert await refusal_of(peer.subscribe(task_id)) == unsupported


async def test_a_message_without_parts_is_refused(peer: Peer03, binding: str) -> None:
    assert await refusal_of(peer.send({'parts': []})) == REFUSED['invalid params'][binding]
