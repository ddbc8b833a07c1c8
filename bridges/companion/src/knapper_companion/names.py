"""Names that the client and the plugin inside Obsidian share."""

PLUGIN = "knapper-companion"
HOST = "obsidian-local-rest-api"
# The published contract's own names: companions that are installed already answer to them.
PREFIX = "/obsidian-tc/v1"
API_FIELD = "obsidianTcApiVersion"
API = "1"
# Ours says its id in the probe; one that says none is of the earlier line, which counts its own versions.
OLDEST = "0.1.0"
OLDEST_EARLIER = "1.7.0"
