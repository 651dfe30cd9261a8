"""Read the docstrings under fields, for models that do not read them at start.

Pydantic's own `use_attribute_docstrings` costs the engine 60 ms at every start.
Invariant: a field's text is the string right below it in the class that declares it.
"""

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise

from pydantic import BaseModel


def describe(models: set[type[BaseModel]]) -> None:
    """Give the models' fields the descriptions that stand in their source."""
    for model in models:
        docs: dict[str, str] = {}
        for base in reversed(model.__mro__):
            docs.update(_of_module(base.__module__).get(base.__qualname__, {}))
        for name, field in model.model_fields.items():
            if field.description is None and name in docs:
                field.description = docs[name]
    for model in models:
        # Else a model that is built again takes over what its parts knew before.
        if "__pydantic_core_schema__" in model.__dict__:
            del model.__pydantic_core_schema__
    for model in models:
        model.model_rebuild(force=True)


def subclasses(base: type[BaseModel]) -> set[type[BaseModel]]:
    """Return every class below `base`."""
    found: set[type[BaseModel]] = set()
    for child in base.__subclasses__():
        found |= {child} | subclasses(child)
    return found


@cache
def _of_module(name: str) -> dict[str, dict[str, str]]:
    """Return class -> field -> docstring of a module of ours."""
    if not name.startswith("kova_ls."):
        return {}
    tree = ast.parse(inspect.getsource(sys.modules[name]))
    return {node.name: _of_body(node.body) for node in tree.body if isinstance(node, ast.ClassDef)}


def _of_body(body: list[ast.stmt]) -> dict[str, str]:
    docs: dict[str, str] = {}
    for field, below in pairwise(body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                docs[name] = inspect.cleandoc(text)
            case _:
                pass
    return docs
