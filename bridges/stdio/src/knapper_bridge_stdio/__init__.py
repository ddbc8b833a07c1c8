"""A stdio server of MCP in front of a host that already runs: `knapper-stdio`."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Serve the client on standard input and output until it leaves."""
    from knapper_bridge_stdio.options import read

    options = read(sys.argv[1:], os.environ)
    from knapper.server.stdio import claim
    from knapper_bridge_stdio.proxy import Proxy
    from knapper_bridge_stdio.remote import Remote

    code = Proxy(Remote(options), *claim()).run()
    sys.stderr.flush()
    os._exit(code)  # a request that the host never answers does not keep a finished process alive
