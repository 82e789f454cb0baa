"""The 0.3 line of the official Python SDK as a server, set up as its documentation does."""

from uuid import uuid4

from a2a.grpc import a2a_pb2_grpc
from a2a.server.agent_execution import RequestContext
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.tasks import TaskUpdater
from a2a.types import AgentCard, Message, Part, Role, Task, TaskState, TaskStatus, TextPart
from player import DESCRIBED, GRPC, PUBLIC, Player, handler_parts, serve
from starlette.applications import Starlette
from starlette.routing import Mount


class Player03(Player):
    def parts(self, words: str) -> list[Part]:
        return [Part(root=TextPart(text=words))]

    def submitted(self, context: RequestContext) -> Task:
        status = TaskStatus(state=TaskState.submitted)
        return Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])

    def message(self, context: RequestContext, words: str) -> Message:
        return Message(
            message_id=str(uuid4()), context_id=context.context_id, role=Role.agent, parts=self.parts(words)
        )

    async def ask(self, updater: TaskUpdater, question: Message) -> None:
        await updater.requires_input(question, final=True)


def main() -> None:
    card = AgentCard.model_validate(
        DESCRIBED
        | {
            'name': 'Python 0.3 peer',
            'description': 'An agent on the 0.3 line of the official SDK',
            'protocolVersion': '0.3.0',
            'url': f'{PUBLIC}/jsonrpc',
            'preferredTransport': 'JSONRPC',
            'additionalInterfaces': [
                {'url': f'{PUBLIC}/jsonrpc', 'transport': 'JSONRPC'},
                {'url': f'{PUBLIC}/rest', 'transport': 'HTTP+JSON'},
                {'url': f'http://{GRPC}', 'transport': 'GRPC'},
            ],
            'capabilities': {'streaming': True, 'pushNotifications': True},
            'supportsAuthenticatedExtendedCard': True,
        }
    )
    handler = DefaultRequestHandler(**handler_parts(Player03()))
    rpc = A2AStarletteApplication(agent_card=card, http_handler=handler).build(rpc_url='/jsonrpc')
    rest = A2ARESTFastAPIApplication(agent_card=card, http_handler=handler).build()
    service = GrpcHandler(card, handler)
    app = Starlette(routes=[Mount('/rest', app=rest), Mount('/', app=rpc)])
    serve(app, lambda server: a2a_pb2_grpc.add_A2AServiceServicer_to_server(service, server))


main()
