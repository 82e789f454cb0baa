"""a2a-langchain-adapters: a remote agent as a runnable."""

import base64

from a2a_langchain_adapters import A2ARunnable

import driver_protocol


def files_of(result):
    files = []
    for file in result.files:
        place = {"bytes": file["bytes"]} if "bytes" in file else {"url": file["uri"]}
        files.append({"name": file["name"], "mediaType": file["mime_type"], **place})
    return files


def attached(request):
    if "file" not in request:
        return {}
    file = request["file"]
    return {"files": [(file["name"], base64.b64decode(file["bytes"]), file["mediaType"])]}


async def invoke(request):
    async with await A2ARunnable.from_agent_url(request["url"]) as agent:
        result = await agent.ainvoke(request["prompt"], **attached(request))
        if request["case"] == "multi-turn":
            chat = agent.with_context(result.context_id)
            second = await chat.ainvoke(request["reply"], task_id=result.task_id)
            return {"question": result.text, "text": second.text or ""}
        failed = result.status == "failed" and (result.text or True)
        return {"text": result.text or "", "files": files_of(result), "failed": failed}


async def stream(request):
    async with await A2ARunnable.from_agent_url(request["url"]) as agent:

        async def say(runnable, text, **more):
            events = []
            async for event in runnable.astream(text, **more):
                events.append(event)
                if request["case"] == "cancel":
                    break
            return events

        def texts(events):
            return "".join(event.text or "" for event in events)

        events = await say(agent, request["prompt"])
        if request["case"] == "cancel":
            return {"state": (await agent.cancel_task(events[0].task_id)).status}
        if request["case"] == "multi-turn":
            chat = agent.with_context(events[-1].context_id)
            second = await say(chat, request["reply"], task_id=events[-1].task_id)
            return {"question": texts(events), "text": texts(second)}
        failed = any(event.status == "failed" for event in events) and texts(events)
        return {"text": texts(events), "failed": failed}


driver_protocol.run("a2a-langchain-adapters", {"invoke": invoke, "stream": stream})
