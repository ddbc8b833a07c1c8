"""The links domain itself; its tools are in the modules beside it."""

from knapper import Domain

links = Domain("links", summary="Follow, check and mend the links between notes.", group="links")
