"""Script: the safe part of JavaScript that Obsidian's plugins let people write in notes, evaluated without an engine.

Expressions, arrow functions, `const`, `if` and `return`, and where a dialect has them assignment and `for … of`, are
evaluated by an interpreter of its own. It reaches nothing but what its host hands in and the methods listed in `texts`,
`arrays`, `moments` and `standard`; every other construct is refused by name. Nothing is imported before it is used.
"""
