"""a2a-sdk 1.3: its client, and its own helpers for texts."""

import base64

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import get_artifact_text, get_message_text, get_stream_response_text, new_text_message
from a2a.types import CancelTaskRequest, GetTaskRequest, Part, Role, SendMessageRequest, TaskState

import driver_protocol


def message_of(request, text, task=None):
    message = new_text_message(text, role=Role.ROLE_USER)
    if task is not None:
        message.task_id, message.context_id = task.id, task.context_id
    if "file" in request:
        file = request["file"]
        raw = base64.b64decode(file["bytes"])
        message.parts.append(Part(raw=raw, filename=file["name"], media_type=file["mediaType"]))
    return message


def files_of(task):
    files = []
    for artifact in task.artifacts:
        for part in artifact.parts:
            file = {"name": part.filename, "mediaType": part.media_type}
            if part.HasField("raw"):
                files.append({**file, "bytes": base64.b64encode(part.raw).decode()})
            elif part.HasField("url"):
                files.append({**file, "url": part.url})
    return files


async def play(request, streaming):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, request["url"]).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)

        async def say(text, task=None):
            """The last task, or the text of a message, and the text of all events as the helper prints them."""
            ended, shown = None, ""
            async for event in client.send_message(SendMessageRequest(message=message_of(request, text, task))):
                if event.HasField("message"):
                    return None, get_message_text(event.message)
                shown += get_stream_response_text(event)
                if event.HasField("task"):
                    ended = event.task
                elif event.HasField("status_update"):
                    ended = await client.get_task(GetTaskRequest(id=event.status_update.task_id))
            return ended, shown

        if request["case"] == "cancel":
            started = SendMessageRequest(message=message_of(request, request["prompt"]))
            started.configuration.return_immediately = True
            async for event in client.send_message(started):
                task_id = event.task.id if event.HasField("task") else event.status_update.task_id
                break
            task = await client.cancel_task(CancelTaskRequest(id=task_id))
            return {"state": TaskState.Name(task.status.state)}
        task, shown = await say(request["prompt"])
        result = {}
        if task is None:
            return {"text": shown}
        if request["case"] == "multi-turn":
            result["question"] = get_message_text(task.status.message)
            task, shown = await say(request["reply"], task)
        result["text"] = "".join(get_artifact_text(artifact) for artifact in task.artifacts)
        result["files"] = files_of(task)
        if streaming and request["case"] in ("text", "stream", "slow-stream", "artifact"):
            result["streamed"] = shown
        if task.status.state == TaskState.TASK_STATE_FAILED:
            result["failed"] = get_message_text(task.status.message)
        return result


async def send(request):
    return await play(request, False)


async def stream(request):
    return await play(request, True)


driver_protocol.run("a2a-sdk", {"send": send, "stream": stream})
