"""Write every generated page and region anew."""

import sys

from devtools.docs.pages import pages
from devtools.environment import say
from devtools.members import ROOT


def main() -> int:
    """Write what has changed, and remove the pages of domains that are gone."""
    wanted = pages(ROOT)
    for file in (ROOT / "docs" / "domains").glob("*.md"):
        if file not in wanted:
            file.unlink()
            say(f"removed {file.relative_to(ROOT)}")
    for file, text in wanted.items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            say(f"wrote {file.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
