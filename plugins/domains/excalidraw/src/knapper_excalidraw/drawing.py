"""A drawing as a file: plain JSON, or a note that holds it."""

from __future__ import annotations

from typing import Any

from knapper import ToolError
from knapper.vault.jsontext import Document
from knapper_excalidraw import note

Json = dict[str, Any]
PLAIN = """{
	"type": "excalidraw",
	"version": 2,
	"source": "knapper",
	"elements": [],
	"appState": {
		"gridSize": null,
		"viewBackgroundColor": "#ffffff"
	},
	"files": {}
}"""
BLANK = note.FRAME.replace("{}", PLAIN)


class Drawing:
    """A drawing that is changed in place; `text()` is the file with the changes, and otherwise as it was."""

    def __init__(self, text: str, path: str) -> None:
        self._given = text
        self._path = path
        self.is_note = path.lower().endswith(".md")
        if self.is_note and not note.is_drawing(text):
            raise self._broken("its properties have no excalidraw-plugin")
        try:
            source = note.scene(text).json if self.is_note else text if text.strip() else PLAIN
            self._document = Document(source)
        except ValueError as error:
            raise self._broken(str(error)) from None
        self.scene: Json = self._document.value
        self._check()

    @property
    def elements(self) -> list[Json]:
        """All elements, also those that are marked as deleted."""
        return self._elements

    @property
    def shown(self) -> list[Json]:
        return [element for element in self.elements if not element.get("isDeleted")]

    @property
    def app_state(self) -> Json:
        return self._app_state

    @property
    def files(self) -> dict[str, str]:
        """Names of the embedded files by id: of a note the vault paths, of plain JSON the kind of data."""
        named = note.files(self._given) if self.is_note else {}
        inside = self.scene.get("files")
        for own, file in (inside if isinstance(inside, dict) else {}).items():
            named.setdefault(own, str(file.get("mimeType", "")) if isinstance(file, dict) else "")
        return named

    def texts(self) -> list[str]:
        """The texts from top to bottom; a note's section of texts counts more than the drawing's copy of it."""
        edited = {entry.id: entry.text for entry in note.texts(self._given)} if self.is_note else {}
        found = [element for element in self.shown if element.get("type") == "text"]
        found.sort(key=lambda element: (_number(element.get("y")), _number(element.get("x"))))
        return [edited.get(str(element.get("id")), raw_text(element)) for element in found]

    def text(self, texts: dict[str, str | None], links: dict[str, str | None]) -> str:
        """The file with its drawing as it is now, and with these entries in the sections of a note."""
        for name, now in (("elements", self._elements), ("appState", self._app_state)):
            if now:
                self.scene[name] = now
        json = self._document.text()
        if not self.is_note:
            return json if self._given.strip() or json != PLAIN else self._given
        changed = note.with_scene(self._given, json)
        for own, new in texts.items():
            changed = note.with_text(changed, own, new)
        for own, link in links.items():
            changed = note.with_link(changed, own, link)
        return changed

    def _check(self) -> None:
        if not isinstance(self.scene, dict):
            raise self._broken("its data is not an object")
        elements, state = self.scene.get("elements", []), self.scene.get("appState", {})
        if not isinstance(elements, list) or not all(isinstance(one, dict) for one in elements):
            raise self._broken("elements is not a list of objects")
        if not isinstance(state, dict):
            raise self._broken("appState is not an object")
        self._elements: list[Json] = elements
        self._app_state: Json = state

    def _broken(self, reason: str) -> ToolError:
        return ToolError("invalid_input", f"{self._path!r} is not a drawing: {reason}", path=self._path)


def raw_text(element: Json) -> str:
    """A text as its author wrote it, before links in it were shortened or lines were wrapped."""
    names = ("rawText", "originalText", "text")
    return next((element[name] for name in names if isinstance(element.get(name), str) and element[name]), "")


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
