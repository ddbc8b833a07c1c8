"""Reader: the tokens of a script one after the other, and the words that it may not use."""

from knapper.script.errors import ScriptError, ScriptRefused
from knapper.script.lexer import Token


def words(text: str) -> frozenset[str]:
    """Many short words, written on few lines."""
    return frozenset(text.split())


STATEMENTS = words(
    "var function class for while do switch try throw async await yield new delete void import "
    "export debugger with super this break continue"
)
ASSIGNMENTS = words("= += -= *= /= %= **= <<= >>= >>>= &= |= ^= &&= ||= ??= ++ --")
BITWISE = words("& | ^ << >> >>>")
# What exists in Obsidian, but is out of reach here.
OUTSIDE = words("app window document console process JSON Date Object Map Set RegExp Promise Symbol")


class Reader:
    """Where a parser stands among the tokens; `steps` says whether statements may assign, loop and wait."""

    def __init__(self, tokens: list[Token], steps: bool = False) -> None:
        self._tokens = tokens
        self._at = 0
        self._steps = steps

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _step(self) -> Token:
        token = self._token
        self._at += token.kind != "end"
        return token

    def _sees(self, *texts: str) -> bool:
        return self._token.kind in ("sign", "name") and self._token.text in texts

    def _accept(self, text: str) -> bool:
        if not self._sees(text):
            return False
        self._at += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise self._unexpected(f", expected {text!r}")

    def _name(self) -> str:
        if self._token.kind != "name":
            raise self._unexpected()
        return self._step().text

    def _refused(self, construct: str, token: Token | None = None) -> ScriptRefused:
        return ScriptRefused(construct, number=(token or self._token).line)

    def _unexpected(self, hint: str = "") -> ScriptError:
        token = self._token
        if token.kind == "sign" and token.text in ASSIGNMENTS - ({"="} if self._steps else set()):
            return self._refused(f"assignment ({token.text})")
        if token.kind == "sign" and token.text in BITWISE:
            return self._refused(f"bitwise operator ({token.text})")
        if token.kind == "name" and (token.text in STATEMENTS or token.text in ("in", "instanceof")):
            return self._refused(token.text)
        return ScriptError(f"SyntaxError: Unexpected {token.text!r}{hint}", number=token.line)
