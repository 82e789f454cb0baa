"""The table of scenarios that the suites of all clients share, and how its patterns are compared."""

import json
import re
from pathlib import Path
from typing import Any

_FILE = json.loads((Path(__file__).parent.parent / 'scenarios.json').read_text())

SCENARIOS: list[dict[str, Any]] = _FILE['scenarios']
_LEAKS = [re.compile(pattern) for pattern in _FILE['leaks']]


def leak_in(text: str) -> str | None:
    """What an answer tells that should have stayed inside the server; None if nothing."""
    for leak in _LEAKS:
        found = leak.search(text)
        if found:
            return f'{leak.pattern}: {text[max(0, found.start() - 40):found.end() + 80]}'
    return None


def mismatches(pattern: Any, value: Any, path: str = 'value') -> list[str]:
    """Where a value differs from a pattern.

    Objects may have members that the pattern does not name, arrays must be as long; null means absent, a text
    that begins with `re:` is a regular expression.
    """
    differs = [f'{path}: expected {pattern!r}, got {value!r}']
    if isinstance(pattern, str) and pattern.startswith('re:'):
        return [] if isinstance(value, str) and re.search(pattern[3:], value) else differs
    if isinstance(pattern, list):
        if not isinstance(value, list) or len(value) != len(pattern):
            return differs
        return [m for i, item in enumerate(pattern) for m in mismatches(item, value[i], f'{path}[{i}]')]
    if isinstance(pattern, dict):
        if not isinstance(value, dict):
            return differs
        return [m for name, member in pattern.items() for m in mismatches(member, value.get(name), f'{path}.{name}')]
    return [] if pattern == value else differs
