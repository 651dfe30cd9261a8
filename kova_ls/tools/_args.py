"""The base of tools' arguments.

Apart from the rest of what a tool is: reading docstrings costs 20 ms when the first model of this
kind is made, and a session's first page needs no tool.
"""

from pydantic import BaseModel, ConfigDict


class Args(BaseModel):
    """Base of argument models; field docstrings are what the model reads."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
