"""Kova LS: an agent engine that any editor can attach to.

Invariant: importing the package imports nothing else; the relay starts in milliseconds."""

__version__ = "0.1.0"
