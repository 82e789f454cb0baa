"""The official Python client on one binding, speaking v1.0 JSON on its upper side."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import grpc
from a2a.client.client import ClientCallContext, ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    ListTasksRequest,
    SendMessageRequest,
    SubscribeToTaskRequest,
)
from a2a.utils.errors import A2AError, UnsupportedOperationError
from google.protobuf.json_format import MessageToDict, ParseDict
from peer import Json, Peer, outcome_of
from scenarios import leak_in


class PythonPeer(Peer):
    ended_errors = (UnsupportedOperationError,)

    @classmethod
    async def connect(cls, url: str, binding: str) -> 'PythonPeer':
        peer = cls()

        async def client(streaming: bool) -> Any:
            config = ClientConfig(
                streaming=streaming,
                httpx_client=peer.http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_protocol_bindings=[binding],
            )
            return await ClientFactory(config).create_from_url(url.rstrip('/'))

        peer._streaming = await client(True)
        peer._plain = await client(False)
        # What the client has chosen by itself.
        peer.version = '0.3' if 'compat' in type(peer._streaming._transport).__module__ else '1.0'
        peer.garbles_files = peer.version == '0.3' and binding != 'JSONRPC'
        peer.binding = binding
        return peer

    async def send(self, message: Json, **configuration: Any) -> Json:
        """Waits for the turn to end unless told otherwise; gives a `task` or a `message`."""
        answers = [MessageToDict(event) async for event in self._plain.send_message(_request(message, configuration))]
        assert len(answers) == 1
        return answers[0]

    async def send_immediately(self, message: Json) -> Json:
        return await self.send(message, returnImmediately=True)

    async def stream(self, message: Json, **configuration: Any) -> AsyncIterator[Json]:
        async for event in self._streaming.send_message(_request(message, configuration)):
            yield MessageToDict(event)

    async def stream_unasked(self, message: Json) -> AsyncIterator[Json]:
        """Streams even where the card offers no streaming; the client itself would send plainly then."""
        async for event in self._streaming._transport.send_message_streaming(_request(message, {})):
            yield MessageToDict(event)

    async def subscribe(self, task_id: str) -> AsyncIterator[Json]:
        async for event in self._streaming.subscribe(SubscribeToTaskRequest(id=task_id)):
            yield MessageToDict(event)

    async def task(self, task_id: str, **options: Any) -> Json:
        return MessageToDict(await self._plain.get_task(GetTaskRequest(id=task_id, **options)))

    async def cancel(self, task_id: str, metadata: Json | None = None) -> Json:
        request = ParseDict({'id': task_id, 'metadata': metadata or {}}, CancelTaskRequest())
        return MessageToDict(await self._plain.cancel_task(request))

    async def list(self, **filters: Any) -> Json:
        page = await self._plain.list_tasks(ParseDict(filters, ListTasksRequest()))
        return MessageToDict(page, always_print_fields_with_no_presence=False) | {
            'totalSize': page.total_size,
            'pageSize': page.page_size,
            'nextPageToken': page.next_page_token,
            'tasks': [MessageToDict(task) for task in page.tasks],
        }

    async def extended_card(self, authorization: str | None) -> Json:
        headers = {} if authorization is None else {'Authorization': authorization}
        context = ClientCallContext(service_parameters=headers)
        card = await self._plain.get_extended_agent_card(GetExtendedAgentCardRequest(), context=context)
        return MessageToDict(card)

    def visible(self, pattern: Any) -> Any:
        # In 0.3 over HTTP+JSON and gRPC this client takes the base64 off the content of files twice.
        return _without_raw(pattern) if self.garbles_files else pattern

    async def check_task(self, task: Json) -> None:
        if self.version != '1.0':
            return
        page = await self.list(contextId=task['contextId'], includeArtifacts=True)
        assert page['totalSize'] == 1
        assert [one['id'] for one in page['tasks']] == [task['id']]
        assert page['tasks'][0]['status'] == task['status']
        assert page['tasks'][0].get('artifacts') == task.get('artifacts')


def _request(message: Json, configuration: Json) -> SendMessageRequest:
    whole = {'messageId': str(uuid4()), 'role': 'ROLE_USER', **message}
    return ParseDict({'message': whole, 'configuration': configuration}, SendMessageRequest())


def _without_raw(pattern: Any) -> Any:
    if isinstance(pattern, list):
        return [_without_raw(item) for item in pattern]
    if not isinstance(pattern, dict):
        return pattern
    return {name: _without_raw(member) for name, member in pattern.items() if name != 'raw'}


async def refusal_of(call: Any) -> str:
    """The name of the error that a call, or a whole stream, is refused with."""
    try:
        await outcome_of(call)
    except A2AError as error:
        assert leak_in(str(error)) is None, error
        return type(error).__name__
    raise AssertionError('the call was not refused')
