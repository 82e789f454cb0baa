"""Lines of JSON between the runner and a driver. Logs and prints of the framework go to stderr."""

import asyncio
import json
import logging
import os
import sys
import traceback
from importlib.metadata import version

# The framework must not write to the output of the protocol.
_OUTPUT = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


def _write(answer):
    _OUTPUT.write(json.dumps(answer) + "\n")
    _OUTPUT.flush()


async def _lines():
    loop = asyncio.get_running_loop()
    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        if line == "":
            return
        yield json.loads(line)


async def _answer(ways, request):
    try:
        result = await ways[request["way"]](request)
        _write({"id": request["id"], "result": result})
    except BaseException as error:  # noqa: BLE001 - some frameworks raise SystemExit
        traceback.print_exc()
        _write({"id": request["id"], "error": f"{type(error).__name__}: {error}"})


async def _serve(ways):
    # A case that hangs does not hold up the next one.
    answers = set()
    async for request in _lines():
        answer = asyncio.create_task(_answer(ways, request))
        answers.add(answer)
        answer.add_done_callback(answers.discard)


def run(package, ways):
    """Answers requests until the input ends. `ways` has an async function from request to result for each way."""
    if os.environ.get("FRAMEWORKS_LOG"):
        logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    _write({"ready": True, "version": version(package)})
    asyncio.run(_serve(ways))
    os._exit(0)
