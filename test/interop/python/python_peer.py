"""The official Python client on one binding, speaking v1.0 JSON on its upper side."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
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
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict, ParseDict

from scenarios import leak_in

BINDINGS = ['JSONRPC', 'HTTP+JSON']
Json = dict[str, Any]


class PythonPeer:
    def __init__(self, streaming: Any, plain: Any, http: httpx.AsyncClient, leaks: list[str]) -> None:
        self._streaming = streaming
        self._plain = plain
        self._http = http
        self.leaks = leaks
        # What the client has chosen by itself.
        self.version = '0.3' if 'compat' in type(streaming._transport).__module__ else '1.0'
        self.garbles_files = self.version == '0.3' and 'Rest' in type(streaming._transport).__name__

    @classmethod
    async def connect(cls, url: str, binding: str) -> 'PythonPeer':
        leaks: list[str] = []

        async def look(response: httpx.Response) -> None:
            if response.headers.get('content-type', '').startswith('text/event-stream'):
                return
            text = (await response.aread()).decode()
            leak = leak_in(text) if response.status_code >= 400 or '"error"' in text else None
            if leak:
                leaks.append(f'{response.status_code} {response.url} {leak}')

        http = httpx.AsyncClient(
            timeout=60, limits=httpx.Limits(max_connections=None), event_hooks={'response': [look]}
        )

        async def client(streaming: bool) -> Any:
            config = ClientConfig(streaming=streaming, httpx_client=http, supported_protocol_bindings=[binding])
            return await ClientFactory(config).create_from_url(url.rstrip('/'))

        return cls(await client(True), await client(False), http, leaks)

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, message: Json, **configuration: Any) -> Json:
        """Waits for the turn to end unless told otherwise; gives a `task` or a `message`."""
        answers = [MessageToDict(event) async for event in self._plain.send_message(_request(message, configuration))]
        assert len(answers) == 1
        return answers[0]

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


def text(words: str, **more: Any) -> Json:
    return {'parts': [{'text': words}], **more}


def _request(message: Json, configuration: Json) -> SendMessageRequest:
    whole = {'messageId': str(uuid4()), 'role': 'ROLE_USER', **message}
    return ParseDict({'message': whole, 'configuration': configuration}, SendMessageRequest())


async def refusal_of(call: Any) -> str:
    """The name of the error that a call, or a whole stream, is refused with."""
    try:
        if hasattr(call, '__aiter__'):
            async for _ in call:
                pass
        else:
            await call
    except A2AError as error:
        assert leak_in(str(error)) is None, error
        return type(error).__name__
    raise AssertionError('the call was not refused')
