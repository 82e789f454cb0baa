"""The official Python SDK under the workloads of the benchmark: Starlette on uvicorn with uvloop, its store in memory.

Arguments: the kind of answer, the number of chunks of a stream, a file of stored tasks or "". Prints its port.
"""

import asyncio
import os
import socket
import sys
import threading

import uvicorn
from a2a.auth.user import UnauthenticatedUser
from a2a.helpers import get_message_text, new_task, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task, TaskState
from google.protobuf.json_format import Parse
from starlette.applications import Starlette

KIND, CHUNKS, STORED = sys.argv[1], int(sys.argv[2]), sys.argv[3]


class Agent(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        question = get_message_text(context.message)
        if KIND == 'call':
            await event_queue.enqueue_event(new_text_message(question, context_id=context.context_id))
            return
        submitted = new_task(
            context.task_id, context.context_id, TaskState.TASK_STATE_SUBMITTED, history=[context.message]
        )
        await event_queue.enqueue_event(submitted)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        if KIND != 'stream':
            await updater.add_artifact([new_text_part(question)], name='response')
        else:
            for index in range(CHUNKS):
                # Each chunk comes in a turn of its own, like the tokens of a model.
                await asyncio.sleep(0)
                part = new_text_part(f'This is chunk {index} of an answer. ')
                await updater.add_artifact([part], artifact_id='response', name='response', append=index > 0)
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def end_with_benchmark() -> None:
    """stdin is a pipe of the benchmark: its end stops this server."""
    sys.stdin.read()
    os._exit(0)


async def main() -> None:
    threading.Thread(target=end_with_benchmark, daemon=True).start()
    store = InMemoryTaskStore()
    if STORED:
        caller = ServerCallContext(user=UnauthenticatedUser())
        with open(STORED, encoding='utf-8') as lines:
            for line in lines:
                await store.save(Parse(line, Task()), caller)
    card = AgentCard(
        name='Peer',
        description='The peer of the benchmark',
        version='1.0.0',
        supported_interfaces=[
            AgentInterface(url='http://127.0.0.1/', protocol_binding='JSONRPC', protocol_version='1.0')
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='echo', name='Echo', description='Repeats the question', tags=['echo'])],
    )
    handler = DefaultRequestHandler(agent_executor=Agent(), task_store=store, agent_card=card)
    app = Starlette(routes=create_jsonrpc_routes(handler, '/'))
    listener = socket.create_server(('127.0.0.1', 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_level='error', access_log=False)
    await uvicorn.Server(config).serve(sockets=[listener])


asyncio.run(main())
