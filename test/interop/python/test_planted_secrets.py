"""The search for planted secrets in the output of the server finds them."""

import base64
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from example_server import ExampleServer
from planted_secrets import planted, secret_in

SECRET = planted('of-this-test')
SHOWN = {
    'as it is': SECRET,
    'in upper case': SECRET.upper(),
    'in a url': quote(SECRET),
    'in a url, every character escaped': ''.join(f'%{ord(one):x}' for one in SECRET),
    'in base64': base64.b64encode(SECRET.encode()).decode(),
    'in base64 after one byte': base64.b64encode(b'1' + SECRET.encode()).decode(),
    'in base64 after two bytes': base64.b64encode(b'12' + SECRET.encode()).decode(),
    'in hex': SECRET.encode().hex(),
}


@pytest.mark.parametrize('form', SHOWN)
def test_a_secret_is_found(form: str) -> None:
    assert secret_in(f'before {SHOWN[form]} after') is not None
    assert secret_in('before planted secret after') is None


@pytest.mark.parametrize('when', ['before', 'after'])
@pytest.mark.parametrize('stream', ['stdout', 'stderr'])
async def test_a_server_that_shows_a_secret_fails_its_suite(tmp_path: Path, stream: str, when: str) -> None:
    script = tmp_path / 'leaking.mjs'
    show = f"process.{stream}.write('{SECRET}\\n');"
    listen = """console.log('{"msg":"listening on http://127.0.0.1:1"}');"""
    lines = [show, listen] if when == 'before' else [listen, show]
    script.write_text('\n'.join([*lines, 'setInterval(() => {}, 1000);']))
    with pytest.raises(AssertionError, match='A planted secret is shown'):
        async with ExampleServer(script) as server:
            await server.printed(re.escape(SECRET.encode()))
