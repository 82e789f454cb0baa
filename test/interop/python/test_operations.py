"""What the scenarios do not show: refusals, cancelling, subscribing, lists, the extended card, many tasks at once."""

import asyncio
import time
from uuid import uuid4

import pytest
from a2a.client.errors import A2AClientError
from peer import BINDINGS, Json, text
from planted_secrets import planted
from python_peer import PythonPeer, refusal_of


@pytest.fixture(params=BINDINGS, scope='session')
async def spec(request, connect) -> PythonPeer:
    return await connect('/spec', request.param)


@pytest.fixture(params=BINDINGS, scope='session')
async def echo(request, connect) -> PythonPeer:
    return await connect('/echo', request.param)


@pytest.fixture(params=BINDINGS, scope='session')
async def tck(request, connect) -> PythonPeer:
    return await connect('/tck', request.param)


async def started(peer: PythonPeer, words: str, **more: str) -> str:
    return (await peer.send(text(words, **more), returnImmediately=True))['task']['id']


async def finished(peer: PythonPeer, words: str, **more: str) -> str:
    return (await peer.send(text(words, **more)))['task']['id']


def state_of(change: Json) -> str:
    return change['status']['state'].removeprefix('TASK_STATE_')


async def test_cancel_ends_a_working_task_within_100_ms_with_the_metadata_of_the_request(spec: PythonPeer) -> None:
    metadata = {'reason': 'test-cancel-reason', 'requestedBy': 'the test'}
    # The best round counts: what the scenarios beside it do to this process is not the agent's fault.
    for _ in range(30):
        events = []
        async for event in spec.stream(text('task-cancel')):
            events.append(event)
            if 'statusUpdate' in event and len(events) == 2:
                begun = time.monotonic()
                answer = await spec.cancel(events[0]['task']['id'], metadata)
                took = time.monotonic() - begun
        assert state_of(events[-1]['statusUpdate']) == 'CANCELED'
        for task in (answer, await spec.task(answer['id'])):
            assert state_of(task) == 'CANCELED'
            assert task['metadata'] == metadata
        if took < 0.1:
            return
    raise AssertionError(f'the last of 30 cancels took {took:.3f} s')


async def test_cancel_ends_a_task_that_waits_and_is_refused_once_it_has_ended(spec: PythonPeer) -> None:
    task_id = await finished(spec, 'multi-turn')
    assert state_of(await spec.cancel(task_id)) == 'CANCELED'
    assert await refusal_of(spec.cancel(task_id)) == 'TaskNotCancelableError'
    assert await refusal_of(spec.cancel(await finished(spec, 'task-failure'))) == 'TaskNotCancelableError'
    assert await refusal_of(spec.cancel(str(uuid4()))) == 'TaskNotFoundError'


async def test_subscribers_see_the_same_and_do_not_disturb_each_other(spec: PythonPeer) -> None:
    task_id = await started(spec, 'streaming')

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
    assert first[0]['task']['id'] == task_id
    assert state_of(first[-1]['statusUpdate']) == 'COMPLETED'
    assert first[-4:] == third[-4:]
    assert len(second) == 2


async def test_a_subscription_holds_on_to_a_task_that_waits_until_it_is_done(spec: PythonPeer) -> None:
    task_id = await finished(spec, 'multi-turn')
    answers, sends, states = ['more', 'done'], [], []
    async for event in spec.subscribe(task_id):
        states.append(state_of(event.get('task') or event.get('statusUpdate') or {'status': {'state': ''}}))
        if states[-1] == 'INPUT_REQUIRED' and answers:
            sends.append(asyncio.create_task(spec.send(text(answers.pop(0), taskId=task_id))))
    await asyncio.gather(*sends)
    assert [state for state in states if state] == [
        'INPUT_REQUIRED', 'WORKING', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED',
    ]


async def test_subscribing_is_refused_for_tasks_that_ended_or_are_unknown(spec: PythonPeer) -> None:
    assert await refusal_of(spec.subscribe(await finished(spec, 'task-failure'))) == 'UnsupportedOperationError'
    assert await refusal_of(spec.subscribe(str(uuid4()))) == 'TaskNotFoundError'


async def test_messages_to_tasks_that_ended_or_are_unknown_are_refused(spec: PythonPeer) -> None:
    ended = text('again', taskId=await finished(spec, 'task-lifecycle'))
    unknown = text('again', taskId=str(uuid4()))
    for call in (spec.send, spec.stream):
        assert await refusal_of(call(ended)) == 'UnsupportedOperationError'
        assert await refusal_of(call(unknown)) == 'TaskNotFoundError'


@pytest.mark.parametrize(
    'message',
    [{'parts': []}, {'messageId': '', 'parts': [{'text': 'x'}]}, {'parts': [{'filename': 'x'}]}],
    ids=['no parts', 'no id', 'a part without content'],
)
async def test_messages_that_lack_something_are_refused(spec: PythonPeer, message: Json) -> None:
    assert await refusal_of(spec.send(message)) == 'InvalidParamsError'
    assert await refusal_of(spec.stream(message)) == 'InvalidParamsError'


async def test_numbers_out_of_range_are_refused(spec: PythonPeer) -> None:
    task_id = await finished(spec, 'task-failure')
    assert await refusal_of(spec.task(task_id, history_length=-1)) == 'InvalidParamsError'
    assert await refusal_of(spec.send(text('x'), historyLength=-1)) == 'InvalidParamsError'
    # Clients of gRPC send 0 where they name no size.
    if spec.binding != 'GRPC':
        assert await refusal_of(spec.list(pageSize=0)) == 'InvalidParamsError'
    assert await refusal_of(spec.list(pageSize=101)) == 'InvalidParamsError'
    assert await refusal_of(spec.list(pageToken='not-a-token')) == 'InvalidParamsError'


async def test_another_context_than_the_tasks_is_refused(spec: PythonPeer) -> None:
    task_id = await finished(spec, 'multi-turn')
    wrong = text('x', taskId=task_id, contextId=str(uuid4()))
    assert await refusal_of(spec.send(wrong)) == 'InvalidParamsError'
    assert state_of((await spec.send(text('done', taskId=task_id)))['task']) == 'COMPLETED'


async def test_the_echo_agent_refuses_streaming(echo: PythonPeer) -> None:
    assert await refusal_of(echo.stream_unasked(text('x'))) == 'UnsupportedOperationError'


async def test_push_is_refused_where_the_card_does_not_offer_it(echo: PythonPeer, spec: PythonPeer) -> None:
    hook = {
        'url': f'https://example.com/hook?key={planted("query")}',
        'token': planted('token'),
        'authentication': {'scheme': 'Bearer', 'credentials': planted('credentials')},
    }
    for peer in (echo, spec):
        call = peer.send(text('x'), taskPushNotificationConfig=hook)
        assert await refusal_of(call) == 'PushNotificationNotSupportedError'


async def test_history_comes_whole_not_at_all_or_as_the_last_ones(spec: PythonPeer) -> None:
    task_id = await finished(spec, 'multi-turn')
    for words in ('second', 'third', 'done'):
        await spec.send(text(words, taskId=task_id))
    whole = (await spec.task(task_id))['history']
    assert [one['parts'][0]['text'] for one in whole if one['role'] == 'ROLE_USER'] == [
        'multi-turn', 'second', 'third', 'done',
    ]
    assert 'history' not in await spec.task(task_id, history_length=0)
    assert (await spec.task(task_id, history_length=2))['history'] == whole[-2:]


async def test_lists_page_through_a_context_newest_first(spec: PythonPeer) -> None:
    context_id = str(uuid4())
    ids = [await finished(spec, words, contextId=context_id) for words in ('data-types', 'task-failure', 'multi-turn')]
    seen, token = [], ''
    while True:
        page = await spec.list(contextId=context_id, pageSize=2, pageToken=token)
        assert (page['totalSize'], page['pageSize']) == (3, 2)
        assert all('artifacts' not in task for task in page['tasks'])
        seen += [task['id'] for task in page['tasks']]
        token = page['nextPageToken']
        if not token:
            break
    assert seen == ids[::-1]
    failed = await spec.list(contextId=context_id, status='TASK_STATE_FAILED')
    assert [task['id'] for task in failed['tasks']] == [ids[1]]
    assert failed['totalSize'] == 1


async def test_lists_filter_by_time(spec: PythonPeer) -> None:
    context_id = str(uuid4())
    await finished(spec, 'task-failure', contextId=context_id)
    last = await finished(spec, 'task-lifecycle', contextId=context_id)
    since = (await spec.task(last))['status']['timestamp']
    page = await spec.list(contextId=context_id, statusTimestampAfter=since, includeArtifacts=True)
    assert [task['id'] for task in page['tasks']] == [last]
    assert page['tasks'][0]['artifacts'][0]['artifactId'] == 'result'


async def test_the_extended_card_is_for_whoever_has_the_token(spec: PythonPeer) -> None:
    card = await spec.extended_card('Bearer acceptance-token')
    assert [skill['id'] for skill in card['skills']][8:] == ['admin-status']
    for authorization in (None, f'Bearer {planted("bearer")}'):
        with pytest.raises(A2AClientError) as refused:
            await spec.extended_card(authorization)
        assert ('UNAUTHENTICATED' if spec.binding == 'GRPC' else '401') in str(refused.value)
        assert 'admin-status' not in str(refused.value)


async def test_200_messages_at_once_give_200_tasks_each_with_its_own_outcome(spec: PythonPeer) -> None:
    context_id = str(uuid4())
    ids = await asyncio.gather(
        *(finished(spec, f'task-lifecycle {index}', contextId=context_id) for index in range(200))
    )
    assert len(set(ids)) == 200
    for index, task in enumerate(await asyncio.gather(*(spec.task(task_id) for task_id in ids))):
        assert state_of(task) == 'COMPLETED'
        expected = f'[task-lifecycle] Processed: task-lifecycle {index}'
        assert task['artifacts'][0]['parts'] == [{'text': expected}]
    page = await spec.list(contextId=context_id, status='TASK_STATE_COMPLETED', pageSize=1)
    assert page['totalSize'] == 200
