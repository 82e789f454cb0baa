"""A traversal agent on the 0.3 line of the official Python SDK."""

import asyncio
import base64
import os
from uuid import uuid4

import grpc
import httpx
import uvicorn
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.grpc import a2a_pb2_grpc
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    Task,
    TaskIdParams,
    TaskState,
    TaskStatus,
    TextPart,
)
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from starlette.routing import Mount

PORT, GRPC_PORT = os.environ['PORT'], os.environ['GRPC_PORT']
URL = f'http://127.0.0.1:{PORT}'
BINDINGS = {'jsonrpc': 'JSONRPC', 'grpc': 'GRPC', 'http_json': 'HTTP+JSON'}
FINISHED = 'task-finished'

pool = descriptor_pool.DescriptorPool()
pool.Add(descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(os.environ['INSTRUCTION_DESCRIPTOR'])))
Instruction = message_factory.GetMessageClass(pool.FindMessageTypeByName('traversal.Instruction'))

CARD = AgentCard(
    name='Python 0.3 traversal agent',
    description='A traversal agent on the 0.3 line of the official SDK',
    version='1.0.0',
    protocol_version='0.3.0',
    url=f'{URL}/jsonrpc',
    preferred_transport='JSONRPC',
    additional_interfaces=[
        AgentInterface(url=f'{URL}/jsonrpc', transport='JSONRPC'),
        AgentInterface(url=f'{URL}/rest', transport='HTTP+JSON'),
        AgentInterface(url=f'127.0.0.1:{GRPC_PORT}', transport='GRPC'),
    ],
    default_input_modes=['text/plain'],
    default_output_modes=['text/plain'],
    skills=[AgentSkill(id='traversal', name='Traversal', description='Follows instructions', tags=['test'])],
    capabilities=AgentCapabilities(streaming=True, push_notifications=True),
)


def texts_of(message: Message | None) -> list[str]:
    return [part.root.text for part in message.parts if isinstance(part.root, TextPart)] if message else []


def event_texts(event) -> list[str]:
    """The client gives a message, or a task with the update that changed it."""
    if isinstance(event, Message):
        return texts_of(event)
    task, update = event
    if update is None:
        return texts_of(task.status.message)
    return texts_of(update.status.message) if update.kind == 'status-update' else []


async def call(wanted) -> list[str]:
    streams = wanted.streaming or wanted.HasField('resubscribe')
    async with httpx.AsyncClient(timeout=60) as http:
        hooks = []
        if wanted.HasField('push_notification'):
            url = f'{wanted.push_notification.url}/notifications'
            hooks.append(PushNotificationConfig(url=url, token='itk-token'))
        config = ClientConfig(
            httpx_client=http,
            grpc_channel_factory=grpc.aio.insecure_channel,
            supported_transports=[BINDINGS[wanted.transport]],
            streaming=streams,
            push_notification_configs=hooks,
        )
        base = wanted.agent_card_uri.removesuffix('/.well-known/agent-card.json')
        client = ClientFactory(config).create(await A2ACardResolver(http, base).get_agent_card())
        content = base64.b64encode(wanted.instruction.SerializeToString()).decode()
        message = Message(role=Role.user, message_id=str(uuid4()), parts=[Part(root=TextPart(text=content))])
        texts: list[str] = []
        stream = client.send_message(message)
        if not wanted.HasField('resubscribe'):
            async for event in stream:
                texts += event_texts(event)
            return texts
        task, _ = await anext(stream)
        await stream.aclose()
        async for event in client.resubscribe(TaskIdParams(id=task.id)):
            texts += event_texts(event)
            if any(FINISHED in text for text in texts):
                break
        try:
            await client.cancel_task(TaskIdParams(id=task.id))
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
        said = lambda text: updater.new_agent_message([Part(root=TextPart(text=text))])
        status = TaskStatus(state=TaskState.submitted)
        await event_queue.enqueue_event(
            Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
        )
        await updater.start_work()
        try:
            # Over HTTP+JSON and gRPC this SDK takes the bytes of a file for text, so that callers send text.
            instruction = Instruction.FromString(base64.b64decode(context.message.parts[0].root.text))
            text = '\n'.join(await run(instruction))
        except Exception as error:
            await updater.failed(said(repr(error)))
            return
        if holds(instruction):
            # A subscription to this SDK gets only later events, and may lose the last one. So the text is repeated.
            for _ in range(5):
                await updater.start_work(said(f'{text}\n{FINISHED}'))
                await asyncio.sleep(2)
        await updater.complete(said(text))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def main() -> None:
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Traversal(),
        task_store=InMemoryTaskStore(),
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )
    app = A2AStarletteApplication(agent_card=CARD, http_handler=handler).build(rpc_url='/jsonrpc')
    rest = A2ARESTFastAPIApplication(agent_card=CARD, http_handler=handler).build()
    app.router.routes.append(Mount('/rest', app=rest))
    server = grpc.aio.server()
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(CARD, handler), server)
    server.add_insecure_port(f'127.0.0.1:{GRPC_PORT}')
    await server.start()
    await uvicorn.Server(uvicorn.Config(app, host='127.0.0.1', port=int(PORT))).serve()


asyncio.run(main())
