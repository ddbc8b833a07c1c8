"""The generated parts of docs/: whole pages of tools, and regions of pages that people write.

`python -m devtools.docs` in .venv writes them; a test compares them with what is committed.
"""
