"""How much work a query may do: counted operations, and a clock looked at now and then."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from knapper_dataview.engine.errors import BudgetExceeded

_CLOCK_EVERY = 512


def _go_on() -> None:
    pass


class Budget:
    """Operations and seconds for one query; a row, a lambda call and 16 characters of new text cost one operation each.

    `look` is called with every look at the clock and may raise, where nobody waits for the answer any more.
    """

    __slots__ = ("_deadline", "_look", "_next_look", "_operations", "_spent", "seconds")

    def __init__(
        self, operations: int = 2_000_000, seconds: float = 10.0, look: Callable[[], None] = _go_on
    ) -> None:
        self._look = look
        self._operations = operations
        self._spent = 0
        self._next_look = _CLOCK_EVERY
        self.seconds = seconds
        self._deadline = monotonic() + seconds

    @property
    def spent(self) -> int:
        """The operations counted so far."""
        return self._spent

    def spend(self, operations: int = 1) -> None:
        """Count work, and stop the query where there is none left."""
        self._spent += operations
        if self._spent > self._operations:
            raise BudgetExceeded(f"the query needs more than {self._operations} operations")
        if self._spent >= self._next_look:
            self._next_look = self._spent + _CLOCK_EVERY
            self.remaining()

    def grow(self, characters: float) -> None:
        """Count text or list elements before they are made, so that one call cannot fill the memory."""
        if characters > 16:
            self.spend(int(min(characters, 1e15)) // 16)

    def remaining(self) -> float:
        """The seconds left; none left stops the query."""
        self._look()
        left = self._deadline - monotonic()
        if left <= 0:
            raise BudgetExceeded(f"the query took longer than {self.seconds} seconds")
        return left
