"""The agent of `parley demo-server` on the official Python SDK. Prints its URL when it listens."""

import asyncio
import base64
import re
import socket

import uvicorn
from a2a.helpers.proto_helpers import new_data_part, new_raw_part, new_task, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, TaskState
from starlette.applications import Starlette

PIXEL = base64.b64decode(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
)


class DemoExecutor(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        words = text.strip().lower().split()
        word = words[0] if words else ''
        task = context.current_task
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if task is None and word == 'message':
            message = updater.new_agent_message([new_text_part(f'You said: {text}')])
            message.task_id = ''
            await event_queue.enqueue_event(message)
            return
        if task is None:
            history = [context.message]
            submitted = TaskState.TASK_STATE_SUBMITTED
            await event_queue.enqueue_event(new_task(context.task_id, context.context_id, submitted, history=history))
        await updater.start_work()
        said = lambda words: updater.new_agent_message([new_text_part(words)])
        if task is not None:
            await updater.add_artifact([new_text_part(f'Hello, {text}')], artifact_id='greeting', name='greeting')
            await updater.complete()
        elif word == 'fail':
            await updater.failed(said('This task was meant to fail'))
        elif word == 'reject':
            await updater.reject(said('This task was meant to be rejected'))
        elif word == 'ask':
            await updater.requires_input(said('What is your name?'))
        elif word == 'auth':
            await updater.requires_auth(said('Sign in first'))
        elif word == 'stream':
            for index, piece in enumerate(['one ', 'two ', 'three ', 'four']):
                part = new_text_part(piece)
                await updater.add_artifact([part], artifact_id='count', name='count', append=index > 0)
                await asyncio.sleep(0.05)
            await updater.complete()
        elif word == 'slow':
            found = re.search(r'\d+', text)
            await asyncio.sleep(float(found.group()) if found else 30)
            await updater.complete(said('Done at last'))
        elif word == 'file':
            part = new_raw_part(PIXEL, media_type='image/png', filename='pixel.png')
            await updater.add_artifact([part], artifact_id='picture', name='picture')
            await updater.complete()
        elif word == 'data':
            await updater.add_artifact([new_data_part({'said': text})], artifact_id='facts', name='facts')
            await updater.complete()
        else:
            await updater.add_artifact([new_text_part(f'You said: {text}')], artifact_id='answer', name='answer')
            await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def main():
    listener = socket.socket()
    listener.bind(('127.0.0.1', 0))
    url = f'http://127.0.0.1:{listener.getsockname()[1]}'
    card = AgentCard(
        name='Demo of the Python SDK',
        description='An agent to practise with',
        version='1.0.0',
        supported_interfaces=[
            AgentInterface(url=f'{url}/a2a/jsonrpc', protocol_binding='JSONRPC', protocol_version='1.0'),
            AgentInterface(url=f'{url}/a2a/rest', protocol_binding='HTTP+JSON', protocol_version='1.0'),
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=['*/*'],
        default_output_modes=['*/*'],
        skills=[AgentSkill(id='demo', name='Demo', description='Does what the first word says', tags=['demo'])],
    )
    handler = DefaultRequestHandler(
        agent_executor=DemoExecutor(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        push_config_store=InMemoryPushNotificationConfigStore(),
    )
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, '/a2a/jsonrpc'),
        *create_rest_routes(handler, path_prefix='/a2a/rest'),
    ]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level='error'))
    print(f'URL: {url}', flush=True)
    asyncio.run(server.serve(sockets=[listener]))


main()
