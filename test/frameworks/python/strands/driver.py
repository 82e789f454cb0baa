"""strands-agents: a remote agent, and an agent served by `A2AServer`."""

import asyncio
import base64

from strands import Agent
from strands.agent.a2a_agent import A2AAgent
from strands.models import Model
from strands.multiagent.a2a import A2AServer
from strands.tools.decorator import tool

import driver_protocol
import served_agent


def said(result):
    """The text of a result as `print` shows it, without the line break that ends it."""
    return str(result).removesuffix("\n")


def content_of(request):
    if "file" not in request:
        return request["prompt"]
    file = request["file"]
    document = {"name": file["name"], "format": "txt", "source": {"bytes": base64.b64decode(file["bytes"])}}
    return [{"text": request["prompt"]}, {"document": document}]


async def agent(request):
    """`invoke_async` for an answer, `stream_async` for a stream. The latter gives raw events, and then the result."""
    case = request["case"]
    remote = A2AAgent(endpoint=request["url"])
    if case == "cancel":
        events = remote.stream_async(request["prompt"])
        await anext(events)
        # A user who leaves closes the stream. There is no other means.
        await events.aclose()
        return {}
    if case in ("stream", "slow-stream"):
        events = [event async for event in remote.stream_async(request["prompt"])]
        return {"text": said(events[-1]["result"])}
    result = await remote.invoke_async(content_of(request))
    if case == "multi-turn":
        return {"question": said(result), "text": said(await remote.invoke_async(request["reply"]))}
    return {"text": said(result), "failed": result.state.get("a2a_task_state") == "failed" and said(result)}


@tool(context=True)
def ask(tool_context) -> str:
    """Asks the caller for a day."""
    return tool_context.interrupt("day", reason=served_agent.QUESTION)


class Scripted(Model):
    """A model that follows the text of its prompt."""

    def update_config(self, **_):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, *_, **__):
        raise NotImplementedError
        yield

    async def stream(self, messages, *_, **__):
        content = messages[-1]["content"]
        prompt = "".join(block.get("text", "") for block in content)
        yield {"messageStart": {"role": "assistant"}}
        reason = "end_turn"
        if prompt == "question":
            use = {"toolUseId": "ask-1", "name": "ask"}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}}}
            reason = "tool_use"
        else:
            if prompt == "wait":
                await asyncio.sleep(3600)
            if prompt == "fail":
                raise ValueError("The served model fails")
            yield {"contentBlockStart": {"start": {}}}
            for chunk in self.answer(prompt, content):
                yield {"contentBlockDelta": {"delta": {"text": chunk}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": reason}}

    def answer(self, prompt, content):
        if prompt == "stream":
            return ["Served: ", "one ", "two ", "three"]
        if prompt == "read":
            file = next(block["document"] for block in content if "document" in block)
            return [f"{file['name']} {file['format']} {len(file['source']['bytes'])}"]
        return [f"Served: {prompt}"]


def scripted_agent(_):
    return Agent(name="Served", description="Follows its prompt", model=Scripted(), tools=[ask], callback_handler=None)


async def serve(_):
    port = served_agent.free_port()
    server = A2AServer(
        agent_factory=scripted_agent, host="127.0.0.1", port=port, enable_a2a_compliant_streaming=True
    )
    await served_agent.serve(server.to_starlette_app(), port)
    return {"url": f"http://127.0.0.1:{port}"}


driver_protocol.run("strands-agents", {"agent": agent, "serve": serve})
