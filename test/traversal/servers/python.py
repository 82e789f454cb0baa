"""A traversal agent on the official Python SDK."""

import asyncio
import base64
import os
from datetime import datetime, timezone
from uuid import uuid4

import grpc
import httpx
import uvicorn
from a2a.client.client import ClientConfig
from a2a.client.client_factory import create_client
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import a2a_pb2_grpc
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskState,
    TaskStatus,
)
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.json_format import ParseDict
from starlette.applications import Starlette

PORT, GRPC_PORT = os.environ['PORT'], os.environ['GRPC_PORT']
URL = f'http://127.0.0.1:{PORT}'
BINDINGS = {'jsonrpc': 'JSONRPC', 'grpc': 'GRPC', 'http_json': 'HTTP+JSON'}
FINISHED = 'task-finished'

pool = descriptor_pool.DescriptorPool()
pool.Add(descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(os.environ['INSTRUCTION_DESCRIPTOR'])))
Instruction = message_factory.GetMessageClass(pool.FindMessageTypeByName('traversal.Instruction'))


def texts_of(message: Message) -> list[str]:
    return [part.text for part in message.parts if part.HasField('text')]


def event_texts(event) -> list[str]:
    if event.HasField('task'):
        return texts_of(event.task.status.message)
    if event.HasField('status_update'):
        return texts_of(event.status_update.status.message)
    return texts_of(event.message)


async def call(wanted) -> list[str]:
    config = ClientConfig(
        httpx_client=httpx.AsyncClient(timeout=60),
        grpc_channel_factory=grpc.aio.insecure_channel,
        supported_protocol_bindings=[BINDINGS[wanted.transport]],
        streaming=wanted.streaming or wanted.HasField('resubscribe'),
    )
    base = wanted.agent_card_uri.removesuffix('/.well-known/agent-card.json')
    client = await create_client(base, config)
    part = Part(
        raw=wanted.instruction.SerializeToString(), media_type='application/x-protobuf', filename='instruction.bin'
    )
    request = SendMessageRequest(message=Message(message_id=str(uuid4()), role=Role.ROLE_USER, parts=[part]))
    if wanted.HasField('push_notification'):
        webhook = request.configuration.task_push_notification_config
        webhook.url = f'{wanted.push_notification.url}/notifications'
        webhook.token = 'itk-token'
    texts: list[str] = []
    if not wanted.HasField('resubscribe'):
        async for event in client.send_message(request):
            texts += event_texts(event)
        return texts
    stream = client.send_message(request)
    event = await anext(stream)
    await stream.aclose()
    id = event.task.id or event.status_update.task_id
    async for event in client.subscribe(SubscribeToTaskRequest(id=id)):
        texts += event_texts(event)
        if any(FINISHED in text for text in texts):
            break
    try:
        await client.cancel_task(CancelTaskRequest(id=id))
    except Exception as error:
        # The task may have ended meanwhile.
        if 'cannot be canceled' not in str(error).lower():
            raise
    return [text.replace(FINISHED, '').strip() for text in texts]


async def run(instruction) -> list[str]:
    if instruction.HasField('return_response'):
        return [instruction.return_response.response]
    if instruction.HasField('call_agent'):
        return await call(instruction.call_agent)
    return [text for step in instruction.steps.instructions for text in await run(step)]


def holds(instruction) -> bool:
    return (
        instruction.return_response.hold_task
        or (instruction.HasField('call_agent') and holds(instruction.call_agent.instruction))
        or any(holds(step) for step in instruction.steps.instructions)
    )


class Traversal(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        said = lambda text: updater.new_agent_message([Part(text=text)])
        status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        status.timestamp.FromDatetime(datetime.now(timezone.utc))
        await event_queue.enqueue_event(
            Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
        )
        await updater.start_work()
        try:
            instruction = Instruction.FromString(context.message.parts[0].raw)
            text = '\n'.join(await run(instruction))
        except Exception as error:
            await updater.failed(said(repr(error)))
            return
        if holds(instruction):
            await updater.start_work(said(f'{text}\n{FINISHED}'))
            for _ in range(5):
                await asyncio.sleep(2)
                await updater.start_work()
        await updater.complete(said(text))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def main() -> None:
    described = {
        'name': 'Python traversal agent',
        'description': 'A traversal agent on the official SDK',
        'version': '1.0.0',
        'defaultInputModes': ['text/plain'],
        'defaultOutputModes': ['text/plain'],
        'skills': [{'id': 'traversal', 'name': 'Traversal', 'description': 'Follows instructions', 'tags': ['test']}],
        'supportedInterfaces': [
            {'url': f'{URL}/jsonrpc', 'protocolBinding': 'JSONRPC', 'protocolVersion': '1.0'},
            {'url': f'{URL}/rest', 'protocolBinding': 'HTTP+JSON', 'protocolVersion': '1.0'},
            {'url': f'127.0.0.1:{GRPC_PORT}', 'protocolBinding': 'GRPC', 'protocolVersion': '1.0'},
        ],
        'capabilities': {'streaming': True, 'pushNotifications': True},
    }
    card = ParseDict(described, AgentCard())
    configs = InMemoryPushNotificationConfigStore()

    async def anywhere(_: str) -> bool:
        return True

    handler = DefaultRequestHandler(
        agent_executor=Traversal(),
        task_store=InMemoryTaskStore(),
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
        agent_card=card,
        push_url_validator=anywhere,
    )
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, rpc_url='/jsonrpc'),
        *create_rest_routes(handler, path_prefix='/rest'),
    ]
    server = grpc.aio.server()
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), server)
    server.add_insecure_port(f'127.0.0.1:{GRPC_PORT}')
    await server.start()
    await uvicorn.Server(uvicorn.Config(Starlette(routes=routes), host='127.0.0.1', port=int(PORT))).serve()


asyncio.run(main())
