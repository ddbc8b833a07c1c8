"""The questions domains ask of the index, each a method with a name; no domain writes SQL against it."""
