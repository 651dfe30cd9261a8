"""Facts in, verdict out: who may do what.

Invariant: no IO, no clock, no tool names, no model.
"""
