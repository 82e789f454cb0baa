"""What this client makes of answers over HTTP+JSON and gRPC, whoever the server is."""

import base64
from typing import Any


def restored(value: Any) -> Any:
    """Without the empty messages that it adds to statuses, and with file content in base64, which it takes off."""
    if isinstance(value, list):
        return [restored(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {name: member for name, member in value.items() if not _is_empty_message(name, member)}
    if 'raw' in kept:
        kept['raw'] = base64.b64encode(kept['raw'].encode()).decode()
    return {name: restored(member) for name, member in kept.items()}


def without_times(pattern: Any) -> Any:
    """The pattern without the times of statuses, which it drops."""
    if isinstance(pattern, list):
        return [without_times(item) for item in pattern]
    if not isinstance(pattern, dict):
        return pattern
    is_status = 'state' in pattern
    return {
        name: without_times(member) for name, member in pattern.items() if not (is_status and name == 'timestamp')
    }


def _is_empty_message(name: str, member: Any) -> bool:
    return name == 'message' and isinstance(member, dict) and member.get('messageId') == ''
