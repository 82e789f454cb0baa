"""The official Python SDK as a server, set up as its documentation does."""

from datetime import datetime, timezone
from uuid import uuid4

from a2a.server.agent_execution import RequestContext
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.types import a2a_pb2_grpc
from a2a.types.a2a_pb2 import AgentCard, Message, Part, Role, Task, TaskState, TaskStatus
from google.protobuf.json_format import ParseDict
from player import DESCRIBED, GRPC, PUBLIC, Player, handler_parts, serve
from starlette.applications import Starlette


class Player1(Player):
    def parts(self, words: str) -> list[Part]:
        return [Part(text=words)]

    def submitted(self, context: RequestContext) -> Task:
        status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        status.timestamp.FromDatetime(datetime.now(timezone.utc))
        return Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])

    def message(self, context: RequestContext, words: str) -> Message:
        return Message(
            message_id=str(uuid4()), context_id=context.context_id, role=Role.ROLE_AGENT, parts=self.parts(words)
        )


def main() -> None:
    described = DESCRIBED | {
        'name': 'Python peer',
        'description': 'An agent on the official SDK',
        'supportedInterfaces': [
            {'url': f'{PUBLIC}/jsonrpc', 'protocolBinding': 'JSONRPC', 'protocolVersion': '1.0'},
            {'url': f'{PUBLIC}/rest', 'protocolBinding': 'HTTP+JSON', 'protocolVersion': '1.0'},
            {'url': GRPC, 'protocolBinding': 'GRPC', 'protocolVersion': '1.0'},
        ],
        'capabilities': {'streaming': True, 'pushNotifications': True, 'extendedAgentCard': True},
    }
    card = ParseDict(described, AgentCard())
    extended = ParseDict(described | {'description': 'For those who ask'}, AgentCard())

    async def anywhere(_: str) -> bool:
        return True

    handler = DefaultRequestHandler(
        **handler_parts(Player1()), agent_card=card, extended_agent_card=extended, push_url_validator=anywhere
    )
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, rpc_url='/jsonrpc'),
        *create_rest_routes(handler, path_prefix='/rest'),
    ]
    service = GrpcHandler(handler)
    serve(Starlette(routes=routes), lambda server: a2a_pb2_grpc.add_A2AServiceServicer_to_server(service, server))


main()
