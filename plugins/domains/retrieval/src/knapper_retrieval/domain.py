"""The domain itself, its settings, and the codes and numbers of its errors."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from knapper import Domain
from knapper.errors import Refusal, define


class Rerank(BaseModel):
    """A second opinion on the order, by a service of the Cohere shape; off without an address."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str | None = None
    model: str = "rerank"
    api_key: SecretStr | None = None
    api_key_env: str | None = None
    timeout_seconds: float = Field(
        default=10.0, gt=0, le=25
    )  # with 30 for a query's vector under the 60 of a call
    pool: int = Field(default=40, ge=2, le=200)
    allow_private_network: bool = False
    allow_public_network: bool = False


class RetrievalSettings(BaseModel):
    """How passages are ranked, and whether HTTP routes offer them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    http: bool = False
    fusion: Literal["blend", "rrf"] = "blend"
    rrf_k: int = Field(default=60, ge=1, le=1000)
    rerank: Rerank = Rerank()


retrieval = Domain(
    "retrieval",
    summary="Find passages and what is related to them, walk links, and pack a context.",
    group="search",
    settings=RetrievalSettings,
    refusals={
        "index_unavailable": Refusal(-32002, "INDEX_INCOMPATIBLE"),
        "internal": Refusal(-32011, "INTERNAL_ERROR"),
        "internal_error": Refusal(-32011, "INTERNAL_ERROR"),
        "operation_timeout": Refusal(-32012, "TIMEOUT"),
        "vault_not_found": Refusal(-32013, "VAULT_NOT_CONFIGURED"),
    },
)

INVALID = -32000
for _code, _meaning in {
    "INVALID_QUERY": "The query is blank or longer than 1000 characters.",
    "INVALID_MODE": "The mode is none of lexical, embedding and hybrid.",
    "INVALID_LIMIT": "The limit is not a whole number from 1 to 50.",
    "INVALID_ID": "The id does not have the form of one.",
    "INVALID_TYPE": "The type is neither note nor chunk.",
    "INVALID_PARAMETER": "A parameter makes no sense here.",
}.items():
    define(_code, _meaning, recovery="Correct what the message names.", number=INVALID)
define(
    "INDEX_NOT_FOUND",
    "Nothing is indexed yet.",
    retryable=True,
    recovery="Wait until the index is built, then ask again.",
    number=-32001,
)
define(
    "NOTE_NOT_FOUND", "No note has this id.", recovery="Search again; ids change with paths.", number=-32004
)
define("CHUNK_NOT_FOUND", "No passage has this id.", recovery="Search again.", number=-32005)
define(
    "EMBEDDING_UNAVAILABLE",
    "There are no vectors to ask.",
    retryable=True,
    recovery="Use lexical.",
    number=-32007,
)
# The same words as in the domain that sends attachments: a code means one thing.
define(
    "QUERY_TOO_LARGE",
    "The file is larger than may be sent.",
    recovery="Ask with allow_large, or open the file in the vault.",
    number=-32008,
)
