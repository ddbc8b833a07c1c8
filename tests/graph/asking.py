"""A process that asks every tool of the graph once and prints the answers, a line each."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from knapper.testing import Calls
from knapper_graph import graph

if __name__ == "__main__":
    call = Calls(Path(sys.argv[1]), Path(sys.argv[2]))
    for tool, arguments in json.loads(sys.argv[3]):
        sys.stdout.write(json.dumps(call(graph, tool, **arguments)) + "\n")
    call.close()
