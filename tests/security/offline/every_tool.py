"""Opens a server with nothing configured but its vault, lets it index, calls every tool, and prints what each answered."""

import json
import sys
import threading
from pathlib import Path

from knapper.config.load import load
from knapper.runtime import open_runtime
from tests.contract.surface import ALICE, FILES, arguments

SECONDS = 90


def main(folder: Path) -> None:
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    runtime = open_runtime(load(folder).settings)
    runtime.start()
    vault, ready = runtime.vaults.get(None), False
    for _ in range(SECONDS * 10):
        ready = vault.index.status().notes_ready and vault.index.status().vectors_ready
        if ready:
            break
        threading.Event().wait(0.1)
    runtime.throttle.enabled = False
    codes = {}
    for name, tool in sorted(runtime.tools.items()):
        for whole in (False, True):
            outcome = runtime.call(name, arguments(tool, whole=whole), ALICE, ask=lambda question: True)
            codes[f"{name} {whole}"] = outcome.error["code"] if outcome.error else "ok"
    runtime.close()
    json.dump({"codes": codes, "ready": ready}, sys.stdout)


main(Path(sys.argv[1]))
