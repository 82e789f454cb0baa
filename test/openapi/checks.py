"""Two checks of schemathesis with further rules of the protocol. They replace those that schemathesis.toml excludes."""

import re

import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

# Refusals that depend on the state of the server, and not on the schema.
STATES = {"TASK_NOT_CANCELABLE", "UNSUPPORTED_OPERATION", "TASK_NOT_FOUND"}
NUMBERS = {-32001, -32002, -32004}
FIELDS = {"pageToken", "message.contextId", "message.taskId"}
# A webhook needs a public address, its credentials become headers, and its id becomes a key.
WEBHOOK = re.compile(r"(^|Config\.)(id|url|token|authentication\.\w+|authentication\.schemes\[\d+\])$")
# Node.js refuses longer heads by itself, with 431.
HEAD_BYTES = 12_000


@schemathesis.hook
def filter_case(context, case):
    parts = [case.path_parameters or {}, case.query or {}, dict(case.headers or {}), dict(case.cookies or {})]
    return sum(len(str(name)) + 3 * len(str(value).encode()) for part in parts for name, value in part.items()) < HEAD_BYTES
# Codes of JSON-RPC for a request that is wrong by itself.
WRONG = {-32700, -32600, -32602, -32005}


@schemathesis.check
def valid_requests_are_accepted(ctx, response, case):
    """A valid request is refused for the state of its task only, or for a token or an id that is not one of the server's."""
    error = error_of(response)
    # The tool sends 0 for an object whose schema has `not`, and takes that for valid.
    if isinstance(case.body, int):
        return None
    if error is None:
        return None if is_jsonrpc(case) else positive_data_acceptance(ctx, response, case)
    if is_about_state(error):
        return None
    if is_jsonrpc(case) and response.status_code == 200:
        meta = case.meta
        if meta is not None and meta.generation.mode.is_positive and error.get("code") in WRONG:
            raise AssertionError(f"A valid call was refused: {error}")
        return None
    return positive_data_acceptance(ctx, response, case)


@schemathesis.check
def wrong_calls_are_refused(ctx, response, case):
    """A wrong call of JSON-RPC has an error in its answer, whose status is 200."""
    if not is_jsonrpc(case) or error_of(response) is not None:
        return None
    return negative_data_rejection(ctx, response, case)


def is_jsonrpc(case):
    return "_jsonrpc" in (case.operation.definition.raw.get("operationId") or "")


def error_of(response):
    """The error of an answer in any of its forms."""
    if "event-stream" in (response.headers.get("content-type") or [""])[0]:
        return None
    try:
        body = response.json()
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    if isinstance(body.get("error"), dict):
        return body["error"]
    return body if response.status_code >= 400 and "message" in body else None


def is_about_state(error):
    details = error.get("details") or error.get("data") or []
    if not isinstance(details, list):
        # A base server says only which of the errors it is.
        return error.get("code") in NUMBERS or "url must " in error.get("message", "")
    if any(detail.get("reason") in STATES for detail in details):
        return True
    violations = [one for detail in details for one in detail.get("fieldViolations", [])]
    return len(violations) > 0 and all(
        one["field"] in FIELDS or WEBHOOK.search(one["field"]) or one["description"].startswith("was used before") for one in violations
    )
