"""The 0.3 line of the official Python SDK as a server, set up as its documentation does."""

import asyncio
import os
from uuid import uuid4

import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCard, Message, Part, Role, Task, TaskState, TaskStatus, TextPart
from starlette.applications import Starlette
from starlette.routing import Mount

gates: dict[str, asyncio.Event] = {}


def gate(name: str) -> asyncio.Event:
    return gates.setdefault(name, asyncio.Event())


def parts(words: str) -> list[Part]:
    return [Part(root=TextPart(text=words))]


class Player(AgentExecutor):
    """Does what `play.mjs` does."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        text = context.get_user_input()
        said = lambda words: updater.new_agent_message(parts(words))

        async def begin() -> None:
            status = TaskStatus(state=TaskState.submitted)
            await event_queue.enqueue_event(
                Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
            )

        async def artifact(words: str, append: bool = False, last: bool = True) -> None:
            await updater.add_artifact(
                parts(words), artifact_id='result', name='result', append=append, last_chunk=last
            )

        async def reply(words: str) -> None:
            message = Message(
                message_id=str(uuid4()), context_id=context.context_id, role=Role.agent, parts=parts(words)
            )
            await event_queue.enqueue_event(message)

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
            await updater.requires_input(said('What else?'), final=True)
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


def main() -> None:
    public = f'http://127.0.0.1:{os.environ["PORT"]}'
    card = AgentCard.model_validate(
        {
            'name': 'Python 0.3 peer',
            'description': 'An agent on the 0.3 line of the official SDK',
            'version': '1.0.0',
            'protocolVersion': '0.3.0',
            'url': f'{public}/jsonrpc',
            'preferredTransport': 'JSONRPC',
            'additionalInterfaces': [
                {'url': f'{public}/jsonrpc', 'transport': 'JSONRPC'},
                {'url': f'{public}/rest', 'transport': 'HTTP+JSON'},
            ],
            'capabilities': {'streaming': True, 'pushNotifications': True},
            'supportsAuthenticatedExtendedCard': True,
            'defaultInputModes': ['text/plain'],
            'defaultOutputModes': ['text/plain'],
            'skills': [{'id': 'play', 'name': 'Play', 'description': 'Plays a part', 'tags': ['test']}],
        }
    )
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Player(),
        task_store=InMemoryTaskStore(),
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )
    rpc = A2AStarletteApplication(agent_card=card, http_handler=handler).build(rpc_url='/jsonrpc')
    rest = A2ARESTFastAPIApplication(agent_card=card, http_handler=handler).build()
    app = Starlette(routes=[Mount('/rest', app=rest), Mount('/', app=rpc)])
    uvicorn.run(app, host='127.0.0.1', port=int(os.environ['PORT']), log_level='info')


main()
