"""Everything that knows what a vault is: paths, files, transactions, Markdown, links."""
