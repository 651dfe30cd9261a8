"""Sessions, turns and steps; knows no editor and no wire."""

from kova_ls.engine.engine import Engine
from kova_ls.engine.session import Session

__all__ = ["Engine", "Session"]
