"""Script: the safe part of JavaScript that `by function` instructions and placeholders are written in.

Expressions, arrow functions, `const`, `if` and `return` are evaluated by an interpreter of its own; it
reaches nothing but the task, the query's file and the methods listed in members.py and moments.py.
Assignment, loops, `new` and every other construct is refused by name.
"""

from .compile import Script, compile_script
from .values import UNDEFINED, Host, Value, to_text

__all__ = ["UNDEFINED", "Host", "Script", "Value", "compile_script", "to_text"]
