"""google-adk: a remote agent in a session, a remote agent as a tool, and an agent served by `to_a2a`."""

import asyncio
import base64
import uuid

from google.adk.agents import BaseAgent, LlmAgent, RunConfig
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.agents.run_config import StreamingMode
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import AgentTool
from google.genai import types

import driver_protocol
import served_agent


def remote(url):
    return RemoteA2aAgent(name="remote", agent_card=f"{url}/.well-known/agent-card.json")


class Chat:
    """A session of one user with one agent."""

    def __init__(self, agent):
        self.sessions = InMemorySessionService()
        self.runner = Runner(app_name="suite", agent=agent, session_service=self.sessions)
        self.session = None

    async def say(self, *parts, streaming=False):
        return [event async for event in self.events(*parts, streaming=streaming)]

    async def events(self, *parts, streaming=False):
        if self.session is None:
            self.session = await self.sessions.create_session(app_name="suite", user_id="user")
        mode = StreamingMode.SSE if streaming else StreamingMode.NONE
        events = self.runner.run_async(
            user_id="user",
            session_id=self.session.id,
            new_message=types.Content(role="user", parts=list(parts)),
            run_config=RunConfig(streaming_mode=mode),
        )
        async for event in events:
            yield event


def text_of(event):
    parts = (event.content.parts or []) if event.content else []
    return "".join(part.text for part in parts if part.text and not part.thought)


def final_text(events):
    return "".join(text_of(event) for event in events if event.is_final_response())


def streamed_text(events):
    """The text on a screen: partial events add to it, and the complete event of the same id replaces them."""
    shown = {}
    for event in events:
        shown[event.id] = (shown.get(event.id, "") + text_of(event)) if event.partial else text_of(event)
    return "".join(shown.values())


def question_of(events):
    for event in events:
        for call in event.get_function_calls():
            if "input_required" in (call.args or {}):
                return call.args["input_required"]
    return final_text(events)


def files_of(events):
    files = []
    for event in events:
        for part in (event.content.parts or []) if event.content else []:
            if part.inline_data:
                blob = part.inline_data
                content = base64.b64encode(blob.data).decode()
                files.append({"name": blob.display_name, "mediaType": blob.mime_type, "bytes": content})
            if part.file_data:
                file = part.file_data
                files.append({"name": file.display_name, "mediaType": file.mime_type, "url": file.file_uri})
    return files


def file_part(file):
    data = base64.b64decode(file["bytes"])
    return types.Part(inline_data=types.Blob(data=data, mime_type=file["mediaType"], display_name=file["name"]))


async def session(request):
    case = request["case"]
    chat = Chat(remote(request["url"]))
    prompt = types.Part(text=request["prompt"])
    if case == "cancel":
        events = chat.events(prompt, streaming=True)
        await anext(events)
        # A user who leaves closes the run. There is no other means.
        await events.aclose()
        return {}
    if case == "multi-turn":
        question = question_of(await chat.say(prompt))
        return {"question": question, "text": final_text(await chat.say(types.Part(text=request["reply"])))}
    parts = [prompt, file_part(request["file"])] if case == "file-in" else [prompt]
    events = await chat.say(*parts, streaming=case in ("stream", "slow-stream"))
    errors = [event.error_message for event in events if event.error_message]
    result = {
        "text": final_text(events),
        "streamed": streamed_text(events),
        "files": files_of([event for event in events if event.is_final_response()]),
        "failed": "; ".join(errors) or False,
        "events": [f"{event.id} partial={event.partial} {text_of(event)!r}" for event in events],
    }
    return result


class Scripted(BaseLlm):
    """A model that calls the tool with the prompt of the user, then repeats the result of the tool."""

    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1]
        responses = [part.function_response for part in last.parts if part.function_response]
        if responses:
            answer = str((responses[0].response or {}).get("result", responses[0].response))
            part = types.Part(text=answer)
        else:
            text = " ".join(part.text for part in last.parts if part.text)
            part = types.Part(function_call=types.FunctionCall(id=str(uuid.uuid4()), name="remote", args={"request": text}))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def agent_tool(request):
    case = request["case"]
    tool = AgentTool(agent=remote(request["url"]))
    chat = Chat(LlmAgent(name="root", model=Scripted(model="scripted"), tools=[tool]))
    events = await chat.say(types.Part(text=request["prompt"]))
    result = {"text": final_text(events)}
    if case == "multi-turn":
        result = {"question": result["text"]}
        result["text"] = final_text(await chat.say(types.Part(text=request["reply"])))
    errors = [event.error_message for event in events if event.error_message]
    return {**result, "failed": "; ".join(errors) or False}


class Served(BaseAgent):
    """An agent that follows the text of its prompt."""

    async def _run_async_impl(self, ctx):
        parts = ctx.user_content.parts
        prompt = "".join(part.text for part in parts if part.text)

        def event(*parts, partial=False, **more):
            content = types.Content(role="model", parts=list(parts))
            return Event(author=self.name, invocation_id=ctx.invocation_id, content=content, partial=partial, **more)

        if prompt == "stream":
            for chunk in ("Served: ", "one ", "two ", "three"):
                yield event(types.Part(text=chunk), partial=True)
            yield event(types.Part(text="Served: one two three"))
        elif prompt == "question":
            call = types.FunctionCall(id=str(uuid.uuid4()), name="ask", args={"question": served_agent.QUESTION})
            parts = (types.Part(text=served_agent.QUESTION), types.Part(function_call=call))
            yield event(*parts, long_running_tool_ids={call.id})
        elif prompt == "wait":
            yield event(types.Part(text="Waiting"), partial=True)
            await asyncio.sleep(3600)
        elif prompt == "file":
            blob = types.Blob(
                data=served_agent.SERVED_BYTES, mime_type="application/x-served", display_name="served.bin"
            )
            yield event(types.Part(inline_data=blob))
        elif prompt == "read":
            blob = next(part.inline_data for part in parts if part.inline_data)
            yield event(types.Part(text=f"{blob.display_name} {blob.mime_type} {len(blob.data)}"))
        elif prompt == "fail":
            raise ValueError("The served agent fails")
        else:
            yield event(types.Part(text=f"Served: {prompt}"))


async def serve(_):
    port = served_agent.free_port()
    await served_agent.serve(to_a2a(Served(name="served"), host="127.0.0.1", port=port), port)
    return {"url": f"http://127.0.0.1:{port}"}


driver_protocol.run("google-adk", {"session": session, "agent-tool": agent_tool, "serve": serve})
