"""Where texts may go."""

from typing import Any

import pytest
from pydantic import ValidationError

from knapper.config.model import EmbeddingSettings
from knapper.embed_hosts import problem
from knapper.embed_http import Api, HttpModel, openai_ask, openai_read
from knapper.errors import ToolError

PRIVATE = [
    "http://10.1.2.3",
    "http://172.16.0.1",
    "http://192.168.1.9:11434",
    "http://[fd00::1]",
    "http://ollama:11434",
    "http://host.docker.internal:11434",
    "http://nas.local",
    "http://nas.home.arpa",
]
PUBLIC = [
    "https://example.com",
    "http://8.8.8.8",
    "http://172.32.0.1",
    "https://[2001:db8::1]",
    "http://localhost.example.com",
]


def settings(url: str, **more: Any) -> EmbeddingSettings:
    return EmbeddingSettings.model_validate({"base_url": url, "provider": "openai", **more})


@pytest.mark.parametrize("url", ["http://127.0.0.1:11434/v1", "http://localhost", "http://[::1]:8080"])
def test_this_machine_is_always_allowed(url: str) -> None:
    assert settings(url).base_url == url


@pytest.mark.parametrize("url", PRIVATE)
def test_a_private_network_needs_its_flag(url: str) -> None:
    with pytest.raises(ValidationError, match="allow_private_network"):
        settings(url)
    assert settings(url, allow_private_network=True).base_url == url


@pytest.mark.parametrize("url", PUBLIC)
def test_a_public_host_is_refused_when_the_configuration_is_read(url: str) -> None:
    with pytest.raises(ValidationError, match="is a public host"):
        settings(url, allow_private_network=True)
    assert settings(url, allow_public_network=True).base_url == url


def test_choosing_a_vendor_is_consent_to_its_own_host_over_https() -> None:
    assert settings("https://api.openai.com/v1").base_url == "https://api.openai.com/v1"
    with pytest.raises(ValidationError, match="only asked over https"):
        settings("http://api.openai.com/v1")
    with pytest.raises(ValidationError, match="is a public host"):
        settings("https://api.openai.com/v1", provider="cohere")


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1", "127.0.0.1:11434", "http://", "http://user:pass@127.0.0.1"]
)
def test_what_is_no_plain_address_is_refused(url: str) -> None:
    with pytest.raises(ValidationError, match=r"embeddings\.base_url"):
        settings(url)


@pytest.mark.parametrize("query", [True, False])
def test_the_check_is_made_again_before_every_request(query: bool) -> None:
    given = settings("http://10.0.0.1", allow_private_network=True)
    api = Api("openai", "/embeddings", openai_ask, openai_read, model="small")
    model = HttpModel(api, given.model_copy(update={"dimensions": 3}))
    model._settings = given.model_copy(update={"dimensions": 3, "allow_private_network": False})
    with pytest.raises(ToolError) as caught:
        model.embed(["a"], query=query)
    assert caught.value.details["reason"] == "host_not_allowed"


def test_a_number_with_a_dot_at_its_end_is_the_same_host() -> None:
    assert problem("http://example.com./", settings("http://localhost")) is not None
