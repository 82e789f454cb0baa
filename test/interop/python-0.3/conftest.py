import pytest
from play import Play
from plays03 import PLAYS
from peer03 import Peer03

pytest_plugins = ['suite']


@pytest.fixture(scope='session')
def peer_type() -> type[Peer03]:
    return Peer03


@pytest.fixture(scope='session')
def plays() -> list[Play]:
    return PLAYS
