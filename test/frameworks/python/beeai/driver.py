"""beeai-framework: a remote agent, and a runnable served by `A2AServer`."""

import asyncio
import base64
import threading

import httpx
from a2a.types import FilePart, FileWithBytes, Message, Part, Role, TextPart
from beeai_framework.adapters.a2a.agents import A2AAgent
from beeai_framework.adapters.a2a.serve.server import A2AServer, A2AServerConfig
from beeai_framework.backend import AssistantMessage
from beeai_framework.emitter import Emitter
from beeai_framework.memory import UnconstrainedMemory
from beeai_framework.runnable import Runnable, RunnableOutput, runnable_entry

import driver_protocol
import served_agent


def message_of(request):
    """BeeAI sends only the text of its own messages, but takes a message of the protocol too."""
    if "file" not in request:
        return request["prompt"]
    file = request["file"]
    content = FileWithBytes(bytes=file["bytes"], name=file["name"], mime_type=file["mediaType"])
    parts = [Part(root=TextPart(text=request["prompt"])), Part(root=FilePart(file=content))]
    return Message(role=Role.user, message_id="file-in", parts=parts)


def files_of(message):
    files = []
    for content in message.content:
        if content.type != "file":
            continue
        file = content.file
        data = file["file_data"]
        place = {"url": data} if data.startswith("http") else {"bytes": data}
        files.append({"name": file["filename"], "mediaType": file["format"], **place})
    return files


async def agent(request):
    remote = A2AAgent(url=request["url"], memory=UnconstrainedMemory())
    if request["case"] == "cancel":
        begun = asyncio.Event()
        run = asyncio.ensure_future(watched(remote, request["prompt"], begun))
        await begun.wait()
        run.cancel()
        return {}
    answer = (await remote.run(message_of(request))).last_message
    if request["case"] == "multi-turn":
        second = (await remote.run(request["reply"])).last_message
        return {"question": answer.text, "text": second.text}
    return {"text": answer.text, "files": files_of(answer)}


async def watched(remote, prompt, begun):
    return await remote.run(prompt).on("update", lambda data, event: begun.set())


class Served(Runnable):
    """A runnable that follows the text of its prompt."""

    @property
    def emitter(self):
        return Emitter.root().child(namespace=["served"])

    @runnable_entry
    async def run(self, input, /, **kwargs):
        prompt = input[-1].text
        if prompt == "wait":
            await asyncio.sleep(3600)
        if prompt == "fail":
            raise ValueError("The served runnable fails")
        text = "Served: one two three" if prompt == "stream" else f"Served: {prompt}"
        if prompt == "read":
            file = next(content.file for content in input[-1].content if content.type == "file")
            text = f"{file['filename']} {file['format']} {len(base64.b64decode(file['file_data']))}"
        return RunnableOutput(output=[AssistantMessage(text)])


async def serve(_):
    port = served_agent.free_port()
    server = A2AServer(config=A2AServerConfig(host="127.0.0.1", port=port))
    server.register(Served(), name="Served", description="Follows its prompt")
    threading.Thread(target=server.serve, daemon=True).start()
    url = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient() as http:
        while True:
            try:
                await http.get(f"{url}/health")
                return {"url": url}
            except httpx.ConnectError:
                await asyncio.sleep(0.05)


driver_protocol.run("beeai-framework", {"agent": agent, "serve": serve})
