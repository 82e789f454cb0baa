"""fasta2a: a served worker."""

import asyncio
import base64
import uuid
from contextlib import asynccontextmanager

from fasta2a import FastA2A, Worker
from fasta2a.broker import InMemoryBroker
from fasta2a.storage import InMemoryStorage

import driver_protocol
import served_agent

# The worker takes one operation at a time, so a task that never ended would stop the server.
WAIT_SECONDS = 2


class Served(Worker):
    """A worker that follows the text of its prompt."""

    async def run_task(self, params):
        parts = params["message"]["parts"]
        prompt = "".join(part.get("text", "") for part in parts)
        task_id, context_id = params["id"], params["context_id"]
        await self.storage.update_task(task_id, state="working")
        if prompt == "fail":
            raise ValueError("The served worker fails")
        if prompt == "question":
            message = {"role": "agent", "parts": [{"text": served_agent.QUESTION}], "message_id": str(uuid.uuid4())}
            task = await self.storage.update_task(task_id, state="input-required", new_messages=[message])
            task["status"]["message"] = message
            return
        artifact_id = str(uuid.uuid4())
        answers = {"stream": ["Served: ", "one ", "two ", "three"]}
        if prompt == "wait":
            await asyncio.sleep(WAIT_SECONDS)
        if prompt == "file":
            raw = base64.b64encode(served_agent.SERVED_BYTES).decode()
            answer = [{"raw": raw, "filename": "served.bin", "media_type": "application/x-served"}]
        elif prompt == "read":
            file = next(part for part in parts if "raw" in part)
            length = len(base64.b64decode(file["raw"]))
            answer = [{"text": f"{file['filename']} {file['media_type']} {length}"}]
        else:
            answer = [{"text": text} for text in answers.get(prompt, [f"Served: {prompt}"])]
        for at, part in enumerate(answer):
            chunk = {"artifact_id": artifact_id, "parts": [part]}
            last = at == len(answer) - 1
            await self.publish_artifact(task_id, context_id, chunk, append=at > 0, last_chunk=last)
        whole = {"artifact_id": artifact_id, "parts": answer}
        await self.storage.update_task(task_id, state="completed", new_artifacts=[whole])

    async def cancel_task(self, params):
        task = await self.storage.load_task(params["id"])
        if task is not None and task["status"]["state"] == "working":
            await self.storage.update_task(params["id"], state="canceled")

    def build_message_history(self, history):
        return history

    def build_artifacts(self, result):
        return result


async def serve(_):
    storage, broker = InMemoryStorage(), InMemoryBroker()
    worker = Served(broker=broker, storage=storage)

    @asynccontextmanager
    async def lifespan(app):
        async with app.task_manager, worker.run():
            yield

    port = served_agent.free_port()
    url = f"http://127.0.0.1:{port}"
    await served_agent.serve(FastA2A(storage=storage, broker=broker, url=url, lifespan=lifespan), port)
    return {"url": url}


driver_protocol.run("fasta2a", {"serve": serve})
