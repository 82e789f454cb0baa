"""Secrets that the suites plant. No output of our processes may show them, in no encoding."""

import base64
import math

PLANTED = 'pl4nted-s3cret'


def planted(name: str) -> str:
    """A secret of its own for a test."""
    return f'{PLANTED}-{name}'


def _in_base64_after(offset: int) -> str:
    encoded = base64.b64encode(bytes(offset) + PLANTED.encode()).decode()
    return encoded[math.ceil(offset * 4 / 3) : (offset + len(PLANTED)) * 4 // 3]


# The forms of packages/parley/test/planted-secrets.ts.
FORMS = [
    form.lower()
    for form in (
        PLANTED,
        PLANTED.replace('-', '%2d'),
        ''.join(f'%{ord(one):x}' for one in PLANTED),
        ''.join(f'\\u{ord(one):04x}' for one in PLANTED),
        PLANTED.encode().hex(),
        *map(_in_base64_after, range(3)),
    )
]


def secret_in(text: str) -> str | None:
    """The planted secret in a text, with what stands around it."""
    lower = text.lower()
    at = next((lower.index(form) for form in FORMS if form in lower), None)
    return None if at is None else text[max(0, at - 120) : at + 120]


def check_output(source: str, output: bytes) -> None:
    """Fails if a process has shown a planted secret."""
    shown = secret_in(output.decode(errors='replace'))
    assert shown is None, f'A planted secret is shown by {source}: …{shown}…'
