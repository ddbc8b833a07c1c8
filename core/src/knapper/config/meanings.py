"""What each setting means, in a sentence: for the documentation.

Beside the model and not in it, because a server that starts has no use for these texts.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from knapper.config import model

MEANINGS: dict[type[BaseModel], dict[str, str]] = {
    model.Settings: {
        "security_profile": "A set of defaults: `hardened` reads only what is allowed, demands hashes for overwrites and serves no HTTP.",
        "cache_dir": "Where index and state are kept. Absent: the platform's data folder. Never inside a vault.",
        "vaults": "The vaults that are served; at least one.",
        "default_vault": "The vault of calls that name none. Absent: the first.",
        "idempotency_ttl_seconds": "How long the answer to a call with a key is kept for its repetitions.",
        "idempotency_reclaim_seconds": "After how long a key whose process died before any effect may be used again.",
        "elicit_ttl_seconds": "How long a confirmation may be given, and then used.",
    },
    model.VaultSettings: {
        "id": "Its name in calls, of `a-z`, `0-9`, `_` and `-`.",
        "path": "Its folder; relative to the file that names it.",
        "name": "Its name for people. Absent: the folder's.",
        "kind": "`docs` and `system` vaults are never written.",
        "acl": "Folder rules of its own, in place of `acl`.",
        "exclude": "Globs of files that are neither indexed nor listed.",
        "rest_api_url": "Where Obsidian's Local REST API listens, for what needs a running Obsidian.",
        "rest_api_key": "The key of that API.",
        "rest_api_certificate": "The certificate it is trusted by: a file (a relative path starts in the vault), or its SHA-256 digest. Absent: the one that the plugin keeps in the vault.",
        "mode": "`live` needs a running Obsidian, `headless` never asks for one, `auto` uses one that answers.",
        "memory": "Settings of the memory tools for this vault.",
        "workspace": "Settings of the session tools for this vault.",
        "auto_mode_explain": "When search says which way it chose.",
    },
    model.BridgeSettings: {
        "timeout_ms": "How long a call into Obsidian may take.",
        "probe_timeout_ms": "How long to wait for Obsidian to answer at all.",
        "ocr_timeout_ms": "How long text recognition may take.",
        "templater_timeout_ms": "How long a template may run.",
    },
    model.VaultPlugins: {
        "force_enabled": "Obsidian plugins taken to be there whatever the probe says.",
        "force_disabled": "Obsidian plugins taken to be absent; wins over `force_enabled`.",
        "probe_skip": "Do not ask which plugins there are.",
    },
    model.CommandSettings: {
        "enabled": "Whether Obsidian's commands may be run at all.",
        "allowlist": "The exact ids of those that may.",
    },
    model.AclSettings: {
        "read_only": "Refuse every change.",
        "default_scopes": "Scopes that every path asks for, where no rule matches.",
        "rules": "Scopes for paths that match; the last match counts.",
        "read_paths": "Globs of what may be read. Absent: everything. Empty: nothing.",
        "write_paths": "Globs of what may be written. Absent: everything. Empty: nothing.",
        "delete_paths": "Globs of what may be deleted. Absent: everything. Empty: nothing.",
        "strict_read_default": "Read nothing where `read_paths` is absent.",
    },
    model.AclRule: {
        "glob": "`*` within a folder, `**` across folders, `?` for one character.",
        "scopes": "What a caller needs beyond the tool's own scopes.",
    },
    model.AuthSettings: {
        "mode": "How HTTP callers prove who they are; `none` only on loopback. stdio callers are the local user.",
        "verifiers": "Verifiers to ask in this order, in place of the one `mode` names.",
        "jwt_secret": "The secret of HS256 tokens, of at least 32 characters.",
        "token_ttl_seconds": "The longest a token is accepted after it was issued, whatever its `exp`.",
        "jwks": "Public keys of tokens, inline.",
        "jwks_file": "A file with public keys of tokens.",
        "algorithms": "Algorithms accepted with those keys.",
        "audience": "The `aud` a token must have. Absent: `resource`, if set.",
        "issuer": "The `iss` a token must have.",
        "resource": "This server's public address, for the metadata of RFC 9728.",
        "authorization_servers": "Where clients get tokens, for the same.",
        "resource_name": "This server's name, for the same.",
        "scopes_supported": "Scopes clients may ask for, for the same.",
        "api_key": "The key of mode `apikey`. Absent: one is made and kept in the state's folder.",
        "api_key_scopes": "What the holder of the key may do.",
    },
    model.EmbeddingSettings: {
        "provider": "The name of an installed embedder.",
        "model": "Its model. Empty: the provider's default.",
        "dimensions": "The width of its vectors. Absent: the model's own.",
        "base_url": "Where a provider over HTTP is reached.",
        "api_key": "Its key.",
        "api_key_env": "The variable that holds its key.",
        "timeout_ms": "How long a batch may take.",
        "batch_size": "The most texts in a request.",
        "concurrency": "The most requests at once.",
        "max_batch_tokens": "The most tokens in a request.",
        "query_prefix": "Put before a query.",
        "document_prefix": "Put before a text that is stored.",
        "truncate": "Cut texts that are too long for the model instead of refusing them.",
        "revision": "Part of the vectors' identity: change it to have them made anew.",
        "allow_private_network": "Let texts leave for addresses of the local network.",
        "allow_public_network": "Let texts leave for the internet.",
    },
    model.IndexSettings: {
        "chunk_chars": "About how long the pieces of a note are.",
        "max_chunk_chars": "The longest a piece may be.",
        "max_note_bytes": "Longer notes are known by name only; moves rewrite their links all the same.",
        "processes": "Processes that read notes. 0: one a processor.",
        "vectors": "Whether pieces get vectors, for search by meaning.",
    },
    model.WatchSettings: {
        "enabled": "Follow what other programs change in the vault.",
        "debounce_ms": "How long a file must be still before it is read.",
        "max_batch_delay_ms": "The longest a change waits for others.",
    },
    model.TransportSettings: {"stdio": "Serve over stdin and stdout."},
    model.HttpSettings: {
        "enabled": "Serve over HTTP.",
        "host": "The address to listen on; one that is not loopback needs `auth`.",
        "port": "The port; 0 takes a free one.",
        "path": "The path of the MCP endpoint.",
        "enable_dns_rebinding_protection": "Refuse requests whose Host or Origin is not this server.",
        "allowed_hosts": "Other names this server goes by.",
        "allowed_origins": "Web pages that may call it; `*` is every page there is.",
        "max_body_bytes": "The largest request.",
        "max_sessions": "The most sessions at once.",
        "session_idle_seconds": "After how long without a request a session ends.",
        "bridge": "Whether `/bridge/v1` is served beside MCP, where `knapper-bridge-rest` is installed.",
        "certificate_file": "A certificate, to serve over TLS.",
        "key_file": "Its key.",
    },
    model.McpSettings: {"min_protocol_version": "Refuse clients of older revisions of the protocol."},
    model.GovernorSettings: {
        "max_response_bytes": "The largest answer of a tool; a larger one is an `overflow` error, never cut.",
        "regex_timeout_ms": "How long all the patterns of a call may take together.",
    },
    model.WriteSettings: {
        "require_cas": "Overwrite a note only if the call names the hash of what it replaces."
    },
    model.VisibilitySettings: {
        "allowed": "Show only these tools. Absent: all.",
        "hidden": "Tools that are not shown, but can be called.",
        "disabled": "Tools that do not exist for callers.",
        "hidden_tags": "Hide tools with one of these tags.",
        "disabled_tags": "Disable tools with one of these tags.",
        "require_read_only": "Show only tools that change nothing.",
    },
    model.FacadeSettings: {
        "mode": "What clients are shown: `triad` is three tools to find and call the rest, `domain` one a domain, `flat` all."
    },
    model.ThrottleSettings: {
        "enabled": "Limit how often a caller may call.",
        "tiers": "A bucket for each of `read`, `write`, `delete`, `bulk`, `execute` and `admin`.",
    },
    model.Tier: {
        "per_minute": "How many calls a minute are allowed in the long run.",
        "burst": "How many may come at once.",
    },
    model.OtelSettings: {
        "endpoint": "Where spans are sent over OTLP. Absent: nowhere.",
        "headers": "Headers sent with them.",
    },
    model.PrometheusSettings: {
        "enabled": "Offer metrics on a listener of its own.",
        "port": "Its port.",
        "bind": "Its address; one that is not loopback needs `auth`.",
    },
    model.CloudEventSettings: {
        "spool": "Write an event a call into files below `cache_dir`.",
        "http_endpoint": "Where events are pushed to.",
        "http_headers": "Headers sent with them.",
    },
    model.RetentionSettings: {
        "event_log_days": "How long the audit log is kept.",
        "traces_days": "How long traces of sessions are kept.",
    },
    model.ObservabilitySettings: {
        "jsonl": "Write the traces of sessions into files below `cache_dir`.",
        "log_format": "How the log on stderr is written.",
        "log_level": "What is logged.",
    },
    model.MaintenanceSettings: {
        "enabled": "Remove what has expired, every so often.",
        "interval_minutes": "How often.",
        "reconcile_interval_minutes": "How often all files are compared with the index, to heal what watching missed.",
        "jobs_complete_retention_days": "How long successful runs of jobs are remembered.",
        "jobs_failed_retention_days": "How long failed ones are.",
    },
    model.SnapshotSettings: {
        "enabled": "Keep a copy of a file before each change.",
        "retention": "How many copies of each file.",
    },
    model.PluginSettings: {
        "only": "Use only these plugins, by their entry points. Absent: all that are installed.",
        "disabled": "Do not use these.",
        "strict": "Stop at a plugin that cannot be used, instead of going on without it.",
    },
}


def meaning(section: type[BaseModel], name: str) -> str:
    """What a setting means; a plugin's section says it in its own fields."""
    told: Any = section.model_fields[name].description
    return MEANINGS.get(section, {}).get(name) or told or ""
