import pytest
from play import Play
from plays import PLAYS
from python_peer import PythonPeer

pytest_plugins = ['suite']


@pytest.fixture(scope='session')
def peer_type() -> type[PythonPeer]:
    return PythonPeer


@pytest.fixture(scope='session')
def plays() -> list[Play]:
    return PLAYS
