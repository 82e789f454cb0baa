"""Signed cards in both directions: the official SDK verifies ours, and the tool `parley` verifies those of the SDK."""

import asyncio
import json
import os
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from a2a.client.card_resolver import A2ACardResolver, parse_agent_card
from a2a.server.routes import create_agent_card_routes
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.signing import (
    InvalidSignaturesError,
    NoSignatureError,
    create_agent_card_signer,
    create_signature_verifier,
)
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from example_server import ROOT
from google.protobuf.json_format import MessageToDict, ParseDict
from jwt.api_jwk import PyJWK
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from peer import Json
from planted_secrets import check_output
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

ALGORITHMS = ['ES256', 'RS256', 'EdDSA']
NODE = os.environ.get('NODE', 'node')
TOOL = ROOT / 'packages' / 'cli' / 'bin' / 'parley.js'


def new_key(algorithm: str) -> Any:
    if algorithm == 'ES256':
        return ec.generate_private_key(ec.SECP256R1())
    if algorithm == 'RS256':
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return ed25519.Ed25519PrivateKey.generate()


def public_jwk(key: Any, algorithm: str, kid: str) -> Json:
    kind = {'ES256': ECAlgorithm, 'RS256': RSAAlgorithm, 'EdDSA': OKPAlgorithm}[algorithm]
    return kind.to_jwk(key.public_key(), as_dict=True) | {'kid': kid, 'alg': algorithm}


def pem(key: Any) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


class Ours:
    """Cards of a server of this project, and its published keys by algorithm."""

    urls: dict[str, str]
    keys: dict[str, Json]

    async def fetch(self, name: str, version: str | None, verify: Any = None) -> AgentCard:
        headers = {} if version is None else {'A2A-Version': version}
        async with httpx.AsyncClient(headers=headers) as http:
            return await A2ACardResolver(http, self.urls[name]).get_agent_card(signature_verifier=verify)

    def trusts(self, algorithm: str, jwk: Json | None = None) -> Any:
        """A verifier of the SDK that trusts one key only."""
        key = PyJWK(jwk or self.keys[algorithm])

        def key_of(kid: str | None, jku: str | None) -> PyJWK:
            assert kid in {one['kid'] for one in self.keys.values()}
            assert jku == 'https://agent.example/.well-known/jwks.json'
            return key

        return create_signature_verifier(key_of, [algorithm])


@pytest.fixture(scope='module')
async def ours(tmp_path_factory) -> AsyncIterator[Ours]:
    folder = tmp_path_factory.mktemp('card-keys')
    files = [folder / f'{algorithm}.pem' for algorithm in ALGORITHMS]
    for file, algorithm in zip(files, ALGORITHMS):
        file.write_bytes(pem(new_key(algorithm)))
    script = Path(__file__).parent / 'signing-server.mjs'
    process = await asyncio.create_subprocess_exec(
        NODE, str(script), *map(str, files), stdin=PIPE, stdout=PIPE, stderr=STDOUT
    )
    try:
        server = Ours()
        server.urls = json.loads(await process.stdout.readline())
        async with httpx.AsyncClient() as http:
            published = (await http.get(f'{server.urls["bare"]}/.well-known/jwks.json')).json()['keys']
        server.keys = {key['alg']: key for key in published}
        yield server
    finally:
        process.kill()
        output, _ = await process.communicate()
        check_output('the signing server', output)


# Without the header a server answers with the members of all its versions.
@pytest.mark.parametrize('version', ['1.0', None])
@pytest.mark.parametrize('name', ['bare', 'described'])
@pytest.mark.parametrize('algorithm', ALGORITHMS)
async def test_the_sdk_verifies_our_card_by_each_key(
    ours: Ours, algorithm: str, name: str, version: str | None
) -> None:
    card = await ours.fetch(name, version, ours.trusts(algorithm))
    assert card.name == 'Übersetzer 翻訳'
    assert (card.description == '') == (name == 'bare')
    assert {key['alg'] for key in ours.keys.values()} == set(ALGORITHMS)


@pytest.mark.parametrize('name', ['bare', 'described'])
@pytest.mark.parametrize('algorithm', ALGORITHMS)
async def test_the_sdk_refuses_our_card_after_each_change(ours: Ours, algorithm: str, name: str) -> None:
    verify = ours.trusts(algorithm)
    card = MessageToDict(await ours.fetch(name, '1.0', verify))
    [first, *others] = card['supportedInterfaces']
    for change in (
        {'name': 'Ubersetzer 翻訳'},
        {'description': 'Another'},
        {'version': '9.9.9'},
        {'supportedInterfaces': [{**first, 'url': 'https://evil.example'}, *others]},
        {'supportedInterfaces': [*others, first]},
        {'provider': {'organization': 'Evil', 'url': 'https://evil.example'}},
    ):
        with pytest.raises(InvalidSignaturesError):
            verify(parse_agent_card(card | change))
    verify(parse_agent_card(card))
    with pytest.raises(NoSignatureError):
        verify(parse_agent_card({name: value for name, value in card.items() if name != 'signatures'}))


@pytest.mark.parametrize('algorithm', ALGORITHMS)
async def test_the_sdk_refuses_our_card_with_a_foreign_key_of_the_same_name(ours: Ours, algorithm: str) -> None:
    foreign = public_jwk(new_key(algorithm), algorithm, ours.keys[algorithm]['kid'])
    for name in ours.urls:
        with pytest.raises(InvalidSignaturesError):
            await ours.fetch(name, '1.0', ours.trusts(algorithm, foreign))


class Theirs:
    """A server on the SDK whose cards the SDK has signed just now. A path is an algorithm and a kind of card."""

    url: str
    # Requests that were not for a card.
    calls: list[str]

    def __init__(self, folder: Path) -> None:
        self.calls = []
        self._folder = folder

    def key_file(self, name: str) -> str:
        return str(self._folder / f'{name}.json')

    def routes(self, algorithm: str) -> list[Mount]:
        key, kid = new_key(algorithm), f'key of {algorithm}'
        for name, trusted in ((algorithm, key), (f'foreign-{algorithm}', new_key(algorithm))):
            Path(self.key_file(name)).write_text(json.dumps(public_jwk(trusted, algorithm, kid)))
        sign = create_agent_card_signer(pem(key), {'kid': kid, 'alg': algorithm, 'jku': None, 'typ': 'JOSE'})

        def signed(*versions: str) -> AgentCard:
            return sign(ParseDict(described(self.url, versions), AgentCard()))

        tampered = signed('1.0')
        tampered.supported_interfaces[0].url = f'{self.url}/evil'
        # The server of the SDK adds the members of 0.3 to a card that offers 0.3.
        cards = {'plain': signed('1.0'), 'compatible': signed('1.0', '0.3'), 'tampered': tampered}
        return [Mount(f'/{algorithm}/{kind}', routes=create_agent_card_routes(card)) for kind, card in cards.items()]

    async def call(self, request: Request) -> Response:
        self.calls.append(request.url.path)
        return Response(status_code=500)


def described(url: str, versions: tuple[str, ...]) -> Json:
    return {
        'name': 'Übersetzer 翻訳',
        'description': '',
        'version': '1.0.0',
        'supportedInterfaces': [
            {'url': f'{url}/call', 'protocolBinding': 'JSONRPC', 'protocolVersion': version} for version in versions
        ],
        'capabilities': {'streaming': True, 'pushNotifications': False},
        'defaultInputModes': ['text/plain'],
        'defaultOutputModes': [],
        'skills': [{'id': 'translate', 'name': 'Übersetzen', 'description': '', 'tags': ['翻訳']}],
    }


@pytest.fixture(scope='module')
async def theirs(tmp_path_factory) -> AsyncIterator[Theirs]:
    server = Theirs(tmp_path_factory.mktemp('sdk-keys'))
    app = Starlette()
    hosting = uvicorn.Server(uvicorn.Config(app, port=0, log_level='error', lifespan='off'))
    sockets = [hosting.config.bind_socket()]
    server.url = f'http://127.0.0.1:{sockets[0].getsockname()[1]}'
    app.routes.extend(mount for algorithm in ALGORITHMS for mount in server.routes(algorithm))
    app.routes.append(Route('/{path:path}', server.call, methods=['GET', 'POST']))
    serving = asyncio.create_task(hosting.serve(sockets=sockets))
    yield server
    hosting.should_exit = True
    await serving


async def tool(home: Path, *args: str) -> tuple[int, Json]:
    """The exit code and the JSON of the command-line tool."""
    env = {'PATH': os.environ['PATH'], 'HOME': str(home)}
    process = await asyncio.create_subprocess_exec(
        NODE, str(TOOL), *args, '-o', 'json', env=env, cwd=home, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )
    out, err = await process.communicate()
    check_output('the command-line tool', out + err)
    assert out, err.decode()
    return process.returncode, json.loads(out)


@pytest.mark.parametrize('kind', ['plain', 'compatible'])
@pytest.mark.parametrize('algorithm', ALGORITHMS)
async def test_our_tool_verifies_a_card_of_the_sdk(theirs: Theirs, tmp_path: Path, algorithm: str, kind: str) -> None:
    key = theirs.key_file(algorithm)
    code, card = await tool(tmp_path, 'card', 'get', f'{theirs.url}/{algorithm}/{kind}', '--card-key', key)
    signatures = [{'kid': f'key of {algorithm}', 'alg': algorithm}]
    assert (code, card['verification']) == (0, {'status': 'verified', 'signatures': signatures})
    assert card['name'] == 'Übersetzer 翻訳'
    async with httpx.AsyncClient() as http:
        served = (await http.get(f'{theirs.url}/{algorithm}/{kind}/.well-known/agent-card.json')).json()
    assert ('preferredTransport' in served) == (kind == 'compatible')


@pytest.mark.parametrize('algorithm', ALGORITHMS)
async def test_our_tool_refuses_a_changed_card_of_the_sdk_and_a_foreign_key(
    theirs: Theirs, tmp_path: Path, algorithm: str
) -> None:
    for kind, key in (('tampered', algorithm), ('plain', f'foreign-{algorithm}')):
        agent = f'{theirs.url}/{algorithm}/{kind}'
        code, card = await tool(tmp_path, 'card', 'get', agent, '--card-key', theirs.key_file(key))
        assert (code, card['verification']['status']) == (1, 'unverifiable')
        assert 'not over this card' in card['verification']['signatures'][0]['fault']


async def test_our_tool_sends_nothing_to_the_agent_of_a_changed_card(theirs: Theirs, tmp_path: Path) -> None:
    agent = f'{theirs.url}/ES256/tampered'
    code, answer = await tool(tmp_path, 'send', '-a', agent, 'hello', '--card-key', theirs.key_file('ES256'))
    assert code != 0
    assert answer['error']['code'] == 'A2ACLI_ERR_CARD_INVALID'
    assert theirs.calls == []
