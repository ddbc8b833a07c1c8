"""The properties domain itself; its tools are in the modules beside it."""

from knapper import Domain

properties = Domain(
    "properties", summary="Read, change and search the properties in frontmatter.", group="metadata"
)
