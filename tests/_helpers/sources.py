"""The modules of the package, their imports, and the cycles of a graph."""

import ast
from functools import cache
from pathlib import Path

import stakes

SOURCE = Path(stakes.__file__).parent


def name_of(path):
    """Return the name of the module of a Python file or stub."""
    parts = ("stakes", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules():
    """Return the modules of the package with their files: Python, and stubs of lazy packages."""
    found = {}
    for path in sorted([*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyi")]):
        found.setdefault(name_of(path), []).append(path)
    return found


@cache
def tree(path):
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path):
    """Iterate over the modules of the package that a file imports, anywhere in it.

    Imports within functions and imports for types only are included. If a module is imported from
    its package, the module counts and not the package, whose other modules are not needed for it.
    """
    package = name_of(path).split(".")
    if path.stem != "__init__":
        package = package[:-1]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in modules())
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for each in node.names:
                inner = f"{source}.{each.name}"
                if inner in modules() or source in modules():
                    yield inner if inner in modules() else source


@cache
def imports():
    """Return the modules that each module imports."""
    return {
        name: {each for path in paths for each in imported(path)} - {name}
        for name, paths in modules().items()
    }


def cycles(graph):
    """Return the strongly connected components of several nodes, by Tarjan's algorithm."""
    order, lowest, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = lowest[node] = len(order)
        stack.append(node)
        for following in sorted(graph[node]):
            if following not in order:
                visit(following)
                lowest[node] = min(lowest[node], lowest[following])
            elif following in stack:
                lowest[node] = min(lowest[node], order[following])
        if lowest[node] == order[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in graph:
        if node not in order:
            visit(node)
    return sorted(found)
