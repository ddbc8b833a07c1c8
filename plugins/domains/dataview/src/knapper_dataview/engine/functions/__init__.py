"""The built-in functions, by the names that queries call them."""

from knapper_dataview.engine.functions.constructors import CONSTRUCTORS
from knapper_dataview.engine.functions.containers import CONTAINERS
from knapper_dataview.engine.functions.dispatch import Builtin
from knapper_dataview.engine.functions.numeric import NUMERIC
from knapper_dataview.engine.functions.strings import STRINGS
from knapper_dataview.engine.functions.utility import UTILITY

FUNCTIONS: dict[str, Builtin] = {**CONSTRUCTORS, **NUMERIC, **CONTAINERS, **STRINGS, **UTILITY}

__all__ = ["FUNCTIONS", "Builtin"]
