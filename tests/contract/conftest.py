from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.surface import Server

OPEN = {"read_paths": ["Open/**"], "write_paths": ["Open/**"], "delete_paths": ["Open/**"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Everything installed, nothing restricted."""
    found = Server(tmp_path_factory.mktemp("free"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def fenced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Everything installed, and only the folder Open for anybody."""
    found = Server(tmp_path_factory.mktemp("fenced"), acl=OPEN)
    yield found
    found.close()


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Everything installed, and the read-only switch on."""
    found = Server(tmp_path_factory.mktemp("frozen"), acl={"read_only": True})
    yield found
    found.close()
