"""Schemas, editor types and tables, generated from the models: `python -m kova_ls.codegen`."""
