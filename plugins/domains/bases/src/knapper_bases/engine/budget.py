"""What one evaluation may cost."""

from collections.abc import Callable
from time import monotonic

from knapper_bases.engine.errors import BudgetExceeded

_CLOCK_EVERY = 2_000


def _go_on() -> None:
    pass


class Budget:
    """A number of operations, a wall time, and the greatest text and list that may be built.

    `look` is called with every look at the clock and may raise, where nobody waits for the answer any more.
    """

    __slots__ = ("_clock_at", "_deadline", "_left", "_look", "longest", "operations", "seconds")

    def __init__(
        self,
        operations: int = 20_000_000,
        seconds: float = 10.0,
        longest: int = 1_000_000,
        look: Callable[[], None] = _go_on,
    ) -> None:
        self._look = look
        self.operations = operations
        self.seconds = seconds
        self.longest = longest
        self.start()

    def start(self) -> None:
        """Begin a new evaluation with the whole budget."""
        self._left = self.operations
        self._clock_at = self._left - _CLOCK_EVERY
        self._deadline = monotonic() + self.seconds

    def spend(self, operations: int) -> None:
        """Account for work that is about to be done."""
        self._left -= operations
        if self._left < self._clock_at:
            self._check()

    def check_length(self, length: float) -> None:
        """Refuse a text or list that would be too long, before it is built."""
        if length > self.longest:
            raise BudgetExceeded(f"A value of length {length:.0f} is longer than the {self.longest} allowed")

    @property
    def seconds_left(self) -> float:
        """Tell how much wall time remains."""
        return max(0.0, self._deadline - monotonic())

    def _check(self) -> None:
        if self._left < 0:
            raise BudgetExceeded(f"The evaluation takes more than {self.operations} operations")
        self._look()
        if monotonic() > self._deadline:
            raise BudgetExceeded(f"The evaluation takes more than {self.seconds:g} s")
        self._clock_at = self._left - _CLOCK_EVERY
