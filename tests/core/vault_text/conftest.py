from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    folder = Path(__file__).parents[3].parent / "shared"
    if not folder.is_dir():
        pytest.skip("the recorded vaults are not here")
    return folder
