"""The 0.3 line of the official Python client on one binding, giving what it receives as v1.0 JSON."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import grpc
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    Message,
    MessageSendConfiguration,
    Part,
    PushNotificationConfig,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TextPart,
)
from peer import Json, Peer, outcome_of
from planted_secrets import planted
from rest_habits import restored, without_times


class Peer03(Peer):
    ended_errors = (A2AClientHTTPError, A2AClientJSONRPCError, grpc.aio.AioRpcError)

    @classmethod
    async def connect(cls, url: str, binding: str) -> 'Peer03':
        peer = cls()
        # Over HTTP+JSON and gRPC this client has habits that are not the server's.
        peer.over_proto = binding != 'JSONRPC'
        peer.card = await A2ACardResolver(peer.http, url).get_agent_card()

        def client(streaming: bool) -> Any:
            config = ClientConfig(
                streaming=streaming,
                httpx_client=peer.http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_transports=[binding],
            )
            return ClientFactory(config).create(peer.card)

        peer._streaming = client(True)
        peer._plain = client(False)
        return peer

    def _given(self, value: Json) -> Json:
        return restored(value) if self.over_proto else value

    async def send(self, message: Json, configuration: MessageSendConfiguration | None = None) -> Json:
        answers = [one async for one in self._plain.send_message(_message(message), configuration=configuration)]
        assert len(answers) == 1
        return self._given(event_json(answers[0]))

    async def send_immediately(self, message: Json) -> Json:
        return await self.send(message, MessageSendConfiguration(blocking=False))

    async def stream(self, message: Json) -> AsyncIterator[Json]:
        async for event in self._streaming.send_message(_message(message)):
            yield self._given(event_json(event))

    async def subscribe(self, task_id: str) -> AsyncIterator[Json]:
        async for event in self._streaming.resubscribe(TaskIdParams(id=task_id)):
            yield self._given(event_json(event))

    async def task(self, task_id: str, history_length: int | None = None) -> Json:
        request = TaskQueryParams(id=task_id, history_length=history_length)
        return self._given(task_json(await self._plain.get_task(request)))

    async def cancel(self, task_id: str) -> Json:
        return self._given(task_json(await self._plain.cancel_task(TaskIdParams(id=task_id))))

    async def set_callback(self, task_id: str, url: str) -> TaskPushNotificationConfig:
        config = PushNotificationConfig(id='a-hook', url=url, token=planted('token'))
        return await self._plain.set_task_callback(
            TaskPushNotificationConfig(task_id=task_id, push_notification_config=config)
        )

    def visible(self, pattern: Any) -> Any:
        return without_times(pattern) if self.over_proto else pattern

    def check_stream(self, events: list[Json]) -> None:
        finals = [event['statusUpdate']['final'] for event in events if 'statusUpdate' in event]
        assert finals == [False] * (len(finals) - 1) + [True] * min(1, len(finals))


async def refusal_of(call: Any) -> int | str:
    """What a call, or a whole stream, is refused with: the number of JSON-RPC, the status of HTTP or that of gRPC."""
    try:
        await outcome_of(call)
    except A2AClientJSONRPCError as error:
        return error.error.code
    except A2AClientHTTPError as error:
        return error.status_code
    except grpc.aio.AioRpcError as error:
        return error.code().name
    raise AssertionError('the call was not refused')


def _message(message: Json) -> Message:
    ids = {'task_id': message.get('taskId'), 'context_id': message.get('contextId')}
    message_id = message.get('messageId', str(uuid4()))
    return Message(role=Role.user, message_id=message_id, parts=[_part(part) for part in message['parts']], **ids)


def _part(part: Json) -> Part:
    if 'text' in part:
        return Part(root=TextPart(text=part['text']))
    if 'data' in part:
        return Part(root=DataPart(data=part['data']))
    about = {'mime_type': part.get('mediaType'), 'name': part.get('filename')}
    if 'raw' in part:
        return Part(root=FilePart(file=FileWithBytes(bytes=part['raw'], **about)))
    return Part(root=FilePart(file=FileWithUri(uri=part['url'], **about)))


def _present(**members: Any) -> Json:
    return {name: value for name, value in members.items() if value is not None}


def part_json(part: Part) -> Json:
    root = part.root
    if isinstance(root, TextPart):
        return {'text': root.text}
    if isinstance(root, DataPart):
        return {'data': root.data}
    file = root.file
    content = {'raw': file.bytes} if isinstance(file, FileWithBytes) else {'url': file.uri}
    return content | _present(mediaType=file.mime_type, filename=file.name)


def message_json(message: Message) -> Json:
    return _present(
        messageId=message.message_id,
        role=f'ROLE_{message.role.value.upper()}',
        parts=[part_json(part) for part in message.parts],
        taskId=message.task_id,
        contextId=message.context_id,
    )


def artifact_json(artifact: Any) -> Json:
    return _present(
        artifactId=artifact.artifact_id,
        name=artifact.name,
        description=artifact.description,
        parts=[part_json(part) for part in artifact.parts],
    )


def status_json(status: Any) -> Json:
    state = status.state.value.upper().replace('-', '_')
    message = None if status.message is None else message_json(status.message)
    return _present(state=f'TASK_STATE_{state}', timestamp=status.timestamp, message=message)


def task_json(task: Task) -> Json:
    return _present(
        id=task.id,
        contextId=task.context_id,
        status=status_json(task.status),
        artifacts=None if not task.artifacts else [artifact_json(one) for one in task.artifacts],
        history=None if not task.history else [message_json(one) for one in task.history],
    )


def event_json(event: Any) -> Json:
    if isinstance(event, Message):
        return {'message': message_json(event)}
    task, update = event
    if update is None:
        return {'task': task_json(task)}
    ids = {'taskId': update.task_id, 'contextId': update.context_id}
    if isinstance(update, TaskArtifactUpdateEvent):
        chunk = _present(append=update.append or None, lastChunk=update.last_chunk or None)
        return {'artifactUpdate': ids | {'artifact': artifact_json(update.artifact)} | chunk}
    return {'statusUpdate': ids | {'status': status_json(update.status), 'final': update.final}}
