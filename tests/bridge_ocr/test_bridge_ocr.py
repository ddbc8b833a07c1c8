from knapper_bridge_ocr import knapper_bridges
from tests.every_bridge import Ask, EveryBridge


class TestTextExtractor(EveryBridge):
    bridge = knapper_bridges()
    key, plugin_id, capability = "ocr", "text-extractor", "text-extractor"
    timeout = "ocr_timeout_ms"
    asks = (
        Ask("read", ("scan.png", False), {}, "/ocr/attachment", {"path": "scan.png", "force": False}),
        Ask("read", ("a.pdf", True), {}, "/ocr/attachment", {"path": "a.pdf", "force": True}),
    )
