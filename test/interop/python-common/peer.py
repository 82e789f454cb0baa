"""A client of any version on one binding, speaking v1.0 JSON on its upper side."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Any

import httpx
from planted_secrets import planted
from scenarios import leak_in

BINDINGS = ['JSONRPC', 'HTTP+JSON', 'GRPC']
Json = dict[str, Any]


class Peer(ABC):
    # What it throws when it subscribes to a task that has ended.
    ended_errors: tuple[type[Exception], ...]

    def __init__(self) -> None:
        # What errors have told that should have stayed inside the server.
        self.leaks: list[str] = []
        self.http = httpx.AsyncClient(
            # The server asks for none of them, and must not show them either.
            headers={'x-api-key': planted('api-key'), 'cookie': f'session={planted("cookie")}'},
            timeout=60,
            limits=httpx.Limits(max_connections=None),
            event_hooks={'response': [self._look]},
        )

    async def _look(self, response: httpx.Response) -> None:
        if response.headers.get('content-type', '').startswith('text/event-stream'):
            return
        text = (await response.aread()).decode()
        leak = leak_in(text) if response.status_code >= 400 or '"error"' in text else None
        if leak:
            self.leaks.append(f'{response.status_code} {response.url} {leak}')

    async def close(self) -> None:
        await self.http.aclose()

    @abstractmethod
    async def send(self, message: Json) -> Json:
        """Waits for the turn to end; gives a `task` or a `message`."""

    @abstractmethod
    async def send_immediately(self, message: Json) -> Json:
        """Does not wait for the turn to end."""

    @abstractmethod
    def stream(self, message: Json) -> AsyncIterator[Json]: ...

    @abstractmethod
    def subscribe(self, task_id: str) -> AsyncIterator[Json]: ...

    @abstractmethod
    async def task(self, task_id: str) -> Json: ...

    def visible(self, pattern: Any) -> Any:
        """What this client leaves of a pattern, whoever the server is."""
        return pattern

    def check_stream(self, events: list[Json]) -> None:
        """What only this version says of the events of a stream."""

    async def check_task(self, task: Json) -> None:
        """What only this version shows of a task, all of whose turns were played."""


def text(words: str, **more: Any) -> Json:
    return {'parts': [{'text': words}], **more}


async def outcome_of(call: Any) -> None:
    """Waits for a call, or for a whole stream."""
    if not hasattr(call, '__aiter__'):
        await call
        return
    async for _ in call:
        pass
