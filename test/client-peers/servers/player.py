"""The behaviour of all peers on the Python SDK. Each peer adds the types of its line of the SDK."""

import asyncio
import os
import socket
from abc import abstractmethod
from typing import Any

import grpc
import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)

PUBLIC = f'http://127.0.0.1:{os.environ["PORT"]}'


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return f'127.0.0.1:{probe.getsockname()[1]}'


GRPC = free_address()

# Members of the cards of all peers.
DESCRIBED = {
    'version': '1.0.0',
    'defaultInputModes': ['text/plain'],
    'defaultOutputModes': ['text/plain'],
    'skills': [{'id': 'play', 'name': 'Play', 'description': 'Plays a part', 'tags': ['test']}],
}

gates: dict[str, asyncio.Event] = {}


def gate(name: str) -> asyncio.Event:
    return gates.setdefault(name, asyncio.Event())


class Player(AgentExecutor):
    """Does what `play.mjs` does."""

    @abstractmethod
    def parts(self, words: str) -> list[Any]: ...

    @abstractmethod
    def submitted(self, context: RequestContext) -> Any:
        """The task of a message, in SUBMITTED."""

    @abstractmethod
    def message(self, context: RequestContext, words: str) -> Any:
        """A message of the agent that belongs to no task."""

    async def ask(self, updater: TaskUpdater, question: Any) -> None:
        await updater.requires_input(question)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        text = context.get_user_input()
        said = lambda words: updater.new_agent_message(self.parts(words))
        begin = lambda: event_queue.enqueue_event(self.submitted(context))
        reply = lambda words: event_queue.enqueue_event(self.message(context, words))

        async def artifact(words: str, append: bool = False, last: bool = True) -> None:
            await updater.add_artifact(
                self.parts(words), artifact_id='result', name='result', append=append, last_chunk=last
            )

        if context.current_task is not None:
            await updater.start_work()
            await artifact(text)
            await updater.complete(said('Thank you'))
            return
        command, *words = text.split(' ')
        if command == 'task':
            await begin()
            await updater.start_work(said('On it'))
            await artifact(' '.join(words))
            await updater.complete()
        elif command == 'chunks':
            await begin()
            await updater.start_work()
            for number in range(1, int(words[1]) + 1):
                if number > 1:
                    await gate(f'{words[0]}-{number}').wait()
                await artifact(f'chunk {number} ', append=number > 1, last=number == int(words[1]))
            await updater.complete()
        elif command == 'saw':
            gate(words[0]).set()
            await reply('noted')
        elif command == 'ask':
            await begin()
            await self.ask(updater, said('What else?'))
        elif command == 'wait':
            await begin()
            await updater.start_work()
            await asyncio.Event().wait()
        elif command == 'fail':
            await begin()
            await updater.failed(said('It could not be done'))
        else:
            await reply(f'Echo: {text}')

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def handler_parts(player: Player) -> dict[str, Any]:
    """The dependencies of the request handlers of all peers."""
    configs = InMemoryPushNotificationConfigStore()
    return {
        'agent_executor': player,
        'task_store': InMemoryTaskStore(),
        'push_config_store': configs,
        'push_sender': BasePushNotificationSender(httpx.AsyncClient(), configs),
    }


def serve(app: Any, add_grpc: Any) -> None:
    """Serves an application over HTTP and the services that `add_grpc` adds to a server over gRPC."""
    asyncio.run(serve_both(app, add_grpc))


async def serve_both(app: Any, add_grpc: Any) -> None:
    server = grpc.aio.server()
    add_grpc(server)
    server.add_insecure_port(GRPC)
    await server.start()
    config = uvicorn.Config(app, host='127.0.0.1', port=int(os.environ['PORT']), log_level='info')
    await uvicorn.Server(config).serve()
