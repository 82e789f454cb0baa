"""The official Python SDK as a server, set up as its documentation does."""

import asyncio
import os
from datetime import datetime, timezone

import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types.a2a_pb2 import AgentCard, Message, Part, Role, Task, TaskState, TaskStatus
from google.protobuf.json_format import ParseDict
from starlette.applications import Starlette

gates: dict[str, asyncio.Event] = {}


def gate(name: str) -> asyncio.Event:
    return gates.setdefault(name, asyncio.Event())


class Player(AgentExecutor):
    """Does what `play.mjs` does."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        text = context.get_user_input()
        said = lambda words: updater.new_agent_message([Part(text=words)])

        async def begin() -> None:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            status.timestamp.FromDatetime(datetime.now(timezone.utc))
            task = Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
            await event_queue.enqueue_event(task)

        async def artifact(words: str, append: bool = False, last: bool = True) -> None:
            await updater.add_artifact(
                [Part(text=words)], artifact_id='result', name='result', append=append, last_chunk=last
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
            await self._reply(context, event_queue, 'noted')
        elif command == 'ask':
            await begin()
            await updater.requires_input(said('What else?'))
        elif command == 'wait':
            await begin()
            await updater.start_work()
            await asyncio.Event().wait()
        elif command == 'fail':
            await begin()
            await updater.failed(said('It could not be done'))
        else:
            await self._reply(context, event_queue, f'Echo: {text}')

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()

    @staticmethod
    async def _reply(context: RequestContext, event_queue: EventQueue, words: str) -> None:
        await event_queue.enqueue_event(
            Message(
                message_id=os.urandom(8).hex(),
                context_id=context.context_id,
                role=Role.ROLE_AGENT,
                parts=[Part(text=words)],
            )
        )


def main() -> None:
    public = f'http://127.0.0.1:{os.environ["PORT"]}'
    described = {
        'name': 'Python peer',
        'description': 'An agent on the official SDK',
        'version': '1.0.0',
        'supportedInterfaces': [
            {'url': f'{public}/jsonrpc', 'protocolBinding': 'JSONRPC', 'protocolVersion': '1.0'},
            {'url': f'{public}/rest', 'protocolBinding': 'HTTP+JSON', 'protocolVersion': '1.0'},
        ],
        'capabilities': {'streaming': True, 'pushNotifications': True, 'extendedAgentCard': True},
        'defaultInputModes': ['text/plain'],
        'defaultOutputModes': ['text/plain'],
        'skills': [{'id': 'play', 'name': 'Play', 'description': 'Plays a part', 'tags': ['test']}],
    }
    card = ParseDict(described, AgentCard())
    extended = ParseDict(described | {'description': 'For those who ask'}, AgentCard())
    configs = InMemoryPushNotificationConfigStore()

    async def anywhere(_: str) -> bool:
        return True

    handler = DefaultRequestHandler(
        agent_executor=Player(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
        extended_agent_card=extended,
        push_url_validator=anywhere,
    )
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, rpc_url='/jsonrpc'),
        *create_rest_routes(handler, path_prefix='/rest'),
    ]
    uvicorn.run(Starlette(routes=routes), host='127.0.0.1', port=int(os.environ['PORT']), log_level='info')


main()
