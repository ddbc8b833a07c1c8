"""Which tools there are for a caller, and the one answer for those that there are not."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ALICE, Desk, MakeDesk
from knapper.caller import Caller
from knapper.dispatch.visibility import verdict
