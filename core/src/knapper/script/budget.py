"""Budget: how much work one script may ask for."""

from collections.abc import Callable
from time import monotonic

from knapper.script.errors import BudgetExceeded

# How many steps pass between two looks at the clock.
_STRIDE = 1024
# So many characters or items come with the step that makes or reads them.
_FREE = 64


def _go_on() -> None:
    pass


class Budget:
    """Steps and seconds that a script may spend; both are far above what an honest one needs.

    `look` is called with every look at the clock and may raise, where nobody waits for the script any more.
    """

    def __init__(
        self, steps: int = 5_000_000, seconds: float = 5.0, look: Callable[[], None] = _go_on
    ) -> None:
        self._seen = look
        self._steps = steps
        self._deadline = monotonic() + seconds
        self._until_look = _STRIDE

    def spend(self, steps: int = 1) -> None:
        """Take some steps, or raise BudgetExceeded."""
        self._steps -= steps
        self._until_look -= steps
        if self._steps < 0:
            raise BudgetExceeded("it takes too many steps")
        if self._until_look <= 0:
            self._until_look = _STRIDE
            self.look()

    def pay(self, value: object) -> None:
        """Take the steps that a value's length costs, so that no script fills the memory with few of them."""
        if isinstance(value, (str, list)) and len(value) > _FREE:
            self.spend(len(value) // _FREE)

    def look(self) -> None:
        """Raise BudgetExceeded where the time is over."""
        self._seen()
        if monotonic() > self._deadline:
            raise BudgetExceeded("it takes too long")
