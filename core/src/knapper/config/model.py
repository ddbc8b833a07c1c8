"""The settings of a server, each with its default; unknown keys are errors."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from knapper.vault.exclude import Excluded

S = TypeVar("S", bound=BaseModel)
VaultId = Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,64}$")]
PLAIN_PATH = re.compile(r"(/[\w.~-]+)+", re.ASCII)
Revision = Literal["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
Port = Annotated[int, Field(ge=0, le=65535)]


class Section(BaseModel):
    """A part of the configuration; snake_case in TOML, and the same keys in camelCase in JSON."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True, frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_words_for_switches(cls, given: Any, about: ValidationInfo) -> Any:
        """A switch is true or false; `yes`, `on` and `no` mean one thing to some programs and another to others."""
        field = cls.model_fields.get(about.field_name or "")
        if isinstance(given, str) and field is not None and field.annotation is bool:
            raise ValueError("is neither true nor false")
        return given


class AclRule(Section):
    """Scopes that a caller needs beyond the tool's own, for paths that match."""

    glob: str = Field(max_length=512)
    scopes: list[str] = []


class AclSettings(Section):
    """Folder rules. An absent list allows every path, an empty one none."""

    read_only: bool = False
    default_scopes: list[str] = []
    rules: list[AclRule] = []
    read_paths: list[str] | None = None
    write_paths: list[str] | None = None
    delete_paths: list[str] | None = None
    strict_read_default: bool = False


class BridgeSettings(Section):
    """How long the parts inside Obsidian may take."""

    timeout_ms: PositiveInt = 5000
    probe_timeout_ms: PositiveInt = 500
    ocr_timeout_ms: PositiveInt = 30_000
    templater_timeout_ms: PositiveInt = 30_000


class VaultPlugins(Section):
    """Corrections to what the probe of Obsidian's plugins finds."""

    force_enabled: list[str] = []
    force_disabled: list[str] = []
    probe_skip: bool = False


class CommandSettings(Section):
    """Whether Obsidian commands may run, and which, by exact id."""

    enabled: bool = False
    allowlist: list[str] = []


class VaultSettings(Section):
    """One vault: its folder, its rules, and how to reach Obsidian where it runs."""

    id: VaultId
    path: str
    name: str | None = None
    kind: Literal["private", "docs", "system"] = "private"
    acl: AclSettings | None = None
    exclude: list[str] = []
    rest_api_url: str | None = None
    rest_api_key: SecretStr | None = None
    rest_api_certificate: str | None = None
    mode: Literal["live", "headless", "auto"] = "auto"
    bridges: BridgeSettings = BridgeSettings()
    plugins: VaultPlugins = VaultPlugins()
    commands: CommandSettings = CommandSettings()
    memory: dict[str, Any] = {}
    workspace: dict[str, Any] = {}
    auto_mode_explain: Literal["always", "on_zero_hits", "optional"] = "optional"

    @field_validator("exclude")
    @classmethod
    def _patterns(cls, given: list[str]) -> list[str]:
        """A pattern that cannot be read would leave out nothing, or everything."""
        Excluded(given)
        return given


class AuthSettings(Section):
    """How HTTP callers prove who they are. stdio callers are the local user."""

    mode: Literal["none", "jwt", "apikey"] | str = "none"
    verifiers: list[str] = []
    jwt_secret: SecretStr | None = None
    token_ttl_seconds: PositiveInt = 86_400
    jwks: dict[str, Any] | None = None
    jwks_file: str | None = None
    algorithms: list[Literal["RS256", "ES256", "EdDSA"]] = ["RS256", "ES256", "EdDSA"]
    audience: str | list[str] | None = None
    issuer: str | None = None
    resource: str | None = None
    authorization_servers: list[str] = []
    resource_name: str | None = None
    scopes_supported: list[str] = []
    api_key: SecretStr | None = None
    api_key_scopes: list[str] = ["*"]

    @property
    def order(self) -> list[str]:
        """The verifiers to ask, first to last."""
        return self.verifiers or ([] if self.mode == "none" else [self.mode])


class EmbeddingSettings(Section):
    """Which model turns text into vectors, and how it is asked."""

    provider: str = "wordllama"
    model: str = ""
    dimensions: PositiveInt | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    api_key_env: str | None = None
    timeout_ms: PositiveInt = 120_000
    batch_size: PositiveInt = 512
    concurrency: PositiveInt = 4
    max_batch_tokens: PositiveInt = 2048
    query_prefix: str = ""
    document_prefix: str = ""
    truncate: bool = False
    revision: str | None = None
    allow_private_network: bool = False
    allow_public_network: bool = False

    @model_validator(mode="after")
    def _may_be_sent_there(self) -> Self:
        from knapper import embed_hosts

        found = embed_hosts.problem(self.base_url, self) if self.base_url else None
        if found:
            raise ValueError(found)
        return self


class IndexSettings(Section):
    """How notes are cut and indexed."""

    chunk_chars: PositiveInt = 2000
    max_chunk_chars: PositiveInt = 4000
    max_note_bytes: PositiveInt = 2_097_152
    processes: int = Field(default=0, ge=0)
    vectors: bool = True


class WatchSettings(Section):
    """Following what other programs change in the vault."""

    enabled: bool = True
    debounce_ms: PositiveInt = 30
    max_batch_delay_ms: PositiveInt = 500


class HttpSettings(Section):
    """The HTTP listener."""

    enabled: bool = False
    host: str = "127.0.0.1"
    port: Port = 8765
    path: str = "/mcp"
    enable_dns_rebinding_protection: bool = True
    allowed_hosts: list[str] = []
    allowed_origins: list[str] = []
    max_body_bytes: PositiveInt = 8_388_608
    max_sessions: PositiveInt = 256
    session_idle_seconds: PositiveInt = 1800
    bridge: bool = True
    certificate_file: str | None = None
    key_file: str | None = None

    @field_validator("path")
    @classmethod
    def _plain(cls, given: str) -> str:
        """A path that is read in one way only, by us and by whatever stands before us."""
        if not PLAIN_PATH.fullmatch(given) or ".." in given.split("/"):
            raise ValueError("has to begin with / and be plain: letters, digits and any of / . _ ~ -, no ..")
        return given


class TransportSettings(Section):
    """Where clients connect."""

    stdio: bool = True
    http: HttpSettings = HttpSettings()


class McpSettings(Section):
    """The protocol itself."""

    min_protocol_version: Revision | None = None


class GovernorSettings(Section):
    """The most one answer or one pattern may cost."""

    max_response_bytes: PositiveInt = 1_000_000
    regex_timeout_ms: PositiveInt = 2000


class WriteSettings(Section):
    """Rules for changing existing notes."""

    require_cas: bool = False


class VisibilitySettings(Section):
    """Which tools are shown, and which can be called at all."""

    allowed: list[str] | None = None
    hidden: list[str] = []
    disabled: list[str] = []
    hidden_tags: list[str] = []
    disabled_tags: list[str] = []
    require_read_only: bool = False


class FacadeSettings(Section):
    """What tools/list shows: three tools to find and call the rest, one a domain, or all."""

    mode: Literal["triad", "domain", "flat"] = "triad"


class Tier(Section):
    """A token bucket: how fast it fills, and how much it holds."""

    per_minute: PositiveFloat
    burst: PositiveInt


def _tiers() -> dict[str, Tier]:
    sizes = {
        "read": (600, 100),
        "write": (60, 20),
        "delete": (60, 20),
        "bulk": (10, 3),
        "execute": (5, 1),
        "admin": (5, 1),
    }
    return {name: Tier(per_minute=rate, burst=burst) for name, (rate, burst) in sizes.items()}


class ThrottleSettings(Section):
    """How often a caller may call each class of tools."""

    enabled: bool = True
    tiers: dict[str, Tier] = Field(default_factory=_tiers)

    @field_validator("tiers")
    @classmethod
    def _complete(cls, given: dict[str, Tier]) -> dict[str, Tier]:
        """A tier that is not named keeps its default; leaving one out never means unlimited."""
        return {**_tiers(), **given}


class OtelSettings(Section):
    """Traces over OTLP; off without an endpoint."""

    endpoint: str | None = None
    headers: dict[str, SecretStr] = {}


class PrometheusSettings(Section):
    """A metrics listener of its own."""

    enabled: bool = False
    port: Port = 9464
    bind: str = "127.0.0.1"


class CloudEventSettings(Section):
    """CloudEvents: a spool of files, and a push where an endpoint is named."""

    spool: bool = False
    http_endpoint: str | None = None
    http_headers: dict[str, SecretStr] = {}


class RetentionSettings(Section):
    """How long records of calls are kept."""

    event_log_days: PositiveInt = 30
    traces_days: PositiveInt = 30


class ObservabilitySettings(Section):
    """Who is told about calls."""

    otel: OtelSettings = OtelSettings()
    prometheus: PrometheusSettings = PrometheusSettings()
    cloudevents: CloudEventSettings = CloudEventSettings()
    retention: RetentionSettings = RetentionSettings()
    jsonl: bool = True
    log_format: Literal["text", "json"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "info"


class MaintenanceSettings(Section):
    """The sweep of what has expired."""

    enabled: bool = True
    interval_minutes: PositiveInt = 60
    reconcile_interval_minutes: PositiveInt = 15
    jobs_complete_retention_days: PositiveInt = 7
    jobs_failed_retention_days: PositiveInt = 30


class SnapshotSettings(Section):
    """Copies of a file from before each change."""

    enabled: bool = True
    retention: PositiveInt = 50


class PluginSettings(Section):
    """Which installed plugins are used; `only` absent means all."""

    only: list[str] | None = None
    disabled: list[str] = []
    strict: bool = False


class Settings(Section):
    """The whole configuration. A domain's own section stands beside these under the domain's name."""

    model_config = ConfigDict(extra="allow", alias_generator=to_camel, populate_by_name=True, frozen=True)

    security_profile: Literal["hardened", "trusted-local"] | None = None
    cache_dir: str | None = None
    vaults: list[VaultSettings] = Field(min_length=1)
    default_vault: str | None = None
    auth: AuthSettings = AuthSettings()
    acl: AclSettings = AclSettings()
    embeddings: EmbeddingSettings = EmbeddingSettings()
    index: IndexSettings = IndexSettings()
    watch: WatchSettings = WatchSettings()
    transports: TransportSettings = TransportSettings()
    mcp: McpSettings = McpSettings()
    governor: GovernorSettings = GovernorSettings()
    writes: WriteSettings = WriteSettings()
    tool_visibility: VisibilitySettings = VisibilitySettings()
    tool_facade: FacadeSettings = FacadeSettings()
    throttle: ThrottleSettings = ThrottleSettings()
    observability: ObservabilitySettings = ObservabilitySettings()
    maintenance: MaintenanceSettings = MaintenanceSettings()
    snapshots: SnapshotSettings = SnapshotSettings()
    plugins: PluginSettings = PluginSettings()
    idempotency_ttl_seconds: PositiveInt = 86_400
    idempotency_reclaim_seconds: PositiveInt = 60
    elicit_ttl_seconds: PositiveInt = 300

    def section(self, name: str, model: type[S]) -> S:
        """A plugin's own section, by the plugin's model; its defaults where the configuration has none."""
        given = self.model_extra or {}
        return model.model_validate(given.get(name, given.get(to_camel(name), {})))
