"""crewai: the delegation of a task to a remote agent, by a stream and by polling."""

import asyncio
import base64

from crewai.a2a.updates import PollingConfig, StreamingConfig
from crewai.a2a.utils.delegation import aexecute_a2a_delegation
from crewai_files import File, FileBytes

import driver_protocol


async def delegate(request, text, updates, **more):
    return await aexecute_a2a_delegation(
        endpoint=f"{request['url']}/.well-known/agent-card.json",
        auth=None,
        timeout=25,
        task_description=text,
        updates=updates,
        **more,
    )


def files_of(request):
    if "file" not in request:
        return None
    file = request["file"]
    source = FileBytes(data=base64.b64decode(file["bytes"]), filename=file["name"])
    return {file["name"]: File(source=source)}


async def play(request, updates):
    if request["case"] == "cancel":
        begun = asyncio.ensure_future(delegate(request, request["prompt"], updates))
        await asyncio.wait([begun], timeout=1)
        begun.cancel()
        return {}
    first = await delegate(request, request["prompt"], updates, input_files=files_of(request))
    if request["case"] == "multi-turn":
        question = first.get("error") or first.get("result") or ""
        history = first["history"]
        answer = history[-1]
        more = {"task_id": answer.task_id, "context_id": answer.context_id, "conversation_history": history}
        second = await delegate(request, request["reply"], updates, **more)
        return {"question": question, "text": second.get("result") or second.get("error") or ""}
    return {"text": first.get("result") or "", "failed": first["status"].value == "failed" and first.get("error")}


async def streaming(request):
    return await play(request, StreamingConfig())


async def polling(request):
    return await play(request, PollingConfig(interval=0.1))


driver_protocol.run("crewai", {"streaming": streaming, "polling": polling})
