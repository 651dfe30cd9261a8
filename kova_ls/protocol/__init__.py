"""What an editor may say to the engine and hear from it: the wire, in pydantic models.

Invariant: nothing below the endpoint imports this room.
"""
