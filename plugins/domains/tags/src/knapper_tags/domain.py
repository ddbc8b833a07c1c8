"""The tags domain itself; its tools are in the modules beside it."""

from typing import Literal

from knapper import Domain

tags = Domain("tags", summary="List tags, find notes by tag, add and remove tags.", group="metadata")

Source = Literal["inline", "frontmatter", "both"]
