"""What is derived from files, in index.db: it may be deleted at any time."""
