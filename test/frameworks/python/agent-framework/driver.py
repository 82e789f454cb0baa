"""agent-framework-a2a: a remote agent with and without streaming, and an agent served by `A2AExecutor`."""

import asyncio
import base64

import httpx
from a2a.client import A2ACardResolver
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from agent_framework import AgentResponse, AgentResponseUpdate, AgentSession, BaseAgent, Content, Message, ResponseStream
from agent_framework_a2a import A2AAgent, A2AExecutor
from starlette.applications import Starlette

import driver_protocol
import served_agent


async def remote(url):
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, url).get_agent_card()
    return A2AAgent(agent_card=card)


def message_of(request):
    if "file" not in request:
        return request["prompt"]
    file = request["file"]
    data = base64.b64decode(file["bytes"])
    content = Content.from_data(
        data=data, media_type=file["mediaType"], additional_properties={"filename": file["name"]}
    )
    return Message(role="user", contents=[Content.from_text(request["prompt"]), content])


def files_of(response):
    files = []
    for message in response.messages:
        for content in message.contents:
            if content.type not in ("data", "uri"):
                continue
            head, _, data = content.uri.partition(",")
            place = {"bytes": data} if head.startswith("data:") else {"url": content.uri}
            name = (content.additional_properties or {}).get("filename")
            files.append({"name": name, "mediaType": content.media_type, **place})
    return files


async def run(request):
    async with await remote(request["url"]) as agent:
        session = agent.create_session()
        response = await agent.run(message_of(request), session=session)
        if request["case"] == "multi-turn":
            return {"question": response.text, "text": (await agent.run(request["reply"], session=session)).text}
        return {"text": response.text, "files": files_of(response)}


async def stream(request):
    async with await remote(request["url"]) as agent:
        session = agent.create_session()

        async def say(text):
            shown = ""
            updates = agent.run(text, stream=True, session=session)
            async for update in updates:
                if request["case"] == "cancel":
                    return None, ""
                shown += update.text
            return await updates.get_final_response(), shown

        response, shown = await say(message_of(request))
        if request["case"] == "cancel":
            # A user who leaves ends the loop. There is no other means.
            return {}
        if request["case"] == "multi-turn":
            second, _ = await say(request["reply"])
            return {"question": response.text, "text": second.text}
        return {"text": response.text, "streamed": shown, "files": files_of(response)}


class Served(BaseAgent):
    """An agent that follows the text of its prompt."""

    def run(self, messages=None, *, stream=False, session=None, **_):
        updates = ResponseStream(self.updates(str(messages)), finalizer=AgentResponse.from_updates)
        return updates if stream else updates.get_final_response()

    async def updates(self, prompt):
        def update(content):
            return AgentResponseUpdate(contents=[content], role="assistant")

        if prompt == "wait":
            await asyncio.sleep(3600)
        if prompt == "fail":
            raise ValueError("The served agent fails")
        if prompt == "file":
            yield update(Content.from_data(data=served_agent.SERVED_BYTES, media_type="application/x-served"))
        elif prompt == "stream":
            for chunk in ("Served: ", "one ", "two ", "three"):
                yield update(Content.from_text(chunk))
        else:
            yield update(Content.from_text(f"Served: {prompt}"))


async def serve(_):
    port = served_agent.free_port()
    url = f"http://127.0.0.1:{port}"
    card = AgentCard(
        name="Served",
        description="Follows its prompt",
        version="1.0.0",
        default_input_modes=["text"],
        default_output_modes=["text"],
        capabilities=AgentCapabilities(streaming=True),
        supported_interfaces=[AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0")],
    )
    executor = A2AExecutor(Served(name="Served"), stream=True)
    handler = DefaultRequestHandler(agent_executor=executor, task_store=InMemoryTaskStore(), agent_card=card)
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")]
    await served_agent.serve(Starlette(routes=routes), port)
    return {"url": url}


driver_protocol.run("agent-framework-a2a", {"run": run, "stream": stream, "serve": serve})
