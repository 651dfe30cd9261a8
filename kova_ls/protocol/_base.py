"""The base of every wire model."""

from kova_ls.values import Value


class WireModel(Value):
    """Frozen, camelCase on the wire, unknown fields ignored, docstrings become descriptions."""


class Empty(WireModel):
    """No fields."""
