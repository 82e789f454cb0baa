"""a2a-sdk 0.3: its client, and its own helpers for texts."""

import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import FilePart, FileWithBytes, Message, Part, Role, TaskArtifactUpdateEvent, TaskIdParams, TextPart
from a2a.utils import get_message_text
from a2a.utils.artifact import get_artifact_text
from a2a.utils.parts import get_file_parts

import driver_protocol


def message_of(request, text, task=None):
    parts = [Part(root=TextPart(text=text))]
    if "file" in request:
        file = request["file"]
        content = FileWithBytes(bytes=file["bytes"], name=file["name"], mime_type=file["mediaType"])
        parts.append(Part(root=FilePart(file=content)))
    ids = {} if task is None else {"task_id": task.id, "context_id": task.context_id}
    return Message(role=Role.user, message_id=uuid.uuid4().hex, parts=parts, **ids)


def files_of(task):
    files = []
    for artifact in task.artifacts or []:
        for file in get_file_parts(artifact.parts):
            content = {"bytes": file.bytes} if isinstance(file, FileWithBytes) else {"url": file.uri}
            files.append({"name": file.name, "mediaType": file.mime_type, **content})
    return files


async def play(request, streaming):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, request["url"]).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)

        async def say(text, task=None):
            """The task as the client keeps it, or the text of a message, and the text of all updates one by one."""
            shown = ""
            async for event in client.send_message(message_of(request, text, task)):
                if isinstance(event, Message):
                    return None, get_message_text(event)
                task, update = event
                if isinstance(update, TaskArtifactUpdateEvent):
                    shown += get_artifact_text(update.artifact)
            return task, shown

        if request["case"] == "cancel":
            if not streaming:
                client = ClientFactory(ClientConfig(httpx_client=http, streaming=False, polling=True)).create(card)
            events = client.send_message(message_of(request, request["prompt"]))
            task, _ = await anext(events)
            canceled = await client.cancel_task(TaskIdParams(id=task.id))
            return {"state": canceled.status.state.value}
        task, shown = await say(request["prompt"])
        result = {}
        if task is None:
            return {"text": shown}
        if request["case"] == "multi-turn":
            result["question"] = get_message_text(task.status.message)
            task, shown = await say(request["reply"], task)
        result["text"] = "".join(get_artifact_text(artifact) for artifact in task.artifacts or [])
        result["files"] = files_of(task)
        if streaming and request["case"] in ("text", "stream", "slow-stream", "artifact"):
            result["streamed"] = shown
        if task.status.state.value == "failed":
            result["failed"] = get_message_text(task.status.message)
        return result


async def send(request):
    return await play(request, False)


async def stream(request):
    return await play(request, True)


driver_protocol.run("a2a-sdk", {"send": send, "stream": stream})
