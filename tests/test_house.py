"""Rules that hold for the source as a whole."""

import ast
import inspect
import re

from _helpers.sources import SOURCE, tree

import stakes

MOST_FILES = 217
MOST_LINES = 60
MOST_NAMES = 40

OPTION = re.compile(r"(?<![\w(-])--[a-z]{3,}")
COMMANDS = {path.stem.strip("_") for path in (SOURCE / "cli").glob("*.py")}
COMMAND = re.compile(rf"\bstakes (?:{'|'.join(sorted(COMMANDS))})\b")
PATHS = sorted(SOURCE.rglob("*.py"))


def place(path):
    return path.relative_to(SOURCE).as_posix()


def functions():
    """Iterate over the functions of the package, with the lines of each without its docstring."""
    for path in PATHS:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                told = node.body[0] if ast.get_docstring(node, clean=False) else None
                docstring = told.end_lineno - told.lineno + 1 if told else 0
                lines = node.end_lineno - node.lineno + 1 - docstring
                yield f"{place(path)}: {node.name}", lines


def texts(path):
    """Return the texts of a module that may be shown: all but docstrings and the like."""
    nodes = list(ast.walk(tree(path)))
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in alone)
    return [node.value for node in constants if isinstance(node.value, str)]


def naming(pattern):
    """Return the texts outside the command line that have a pattern, with their files."""
    return [
        f"{place(path)}: {text.strip()[:80]}"
        for path in PATHS
        for text in texts(path)
        if pattern.search(text.replace("pip install --upgrade", ""))
        if not place(path).startswith("cli/")
    ]


def test_there_are_few_files():
    assert len(PATHS) <= MOST_FILES


def test_functions_are_short():
    assert [name for name, lines in functions() if lines > MOST_LINES] == []


def test_every_module_says_what_it_does():
    assert [place(path) for path in PATHS if not ast.get_docstring(tree(path))] == []


def test_the_type_of_arrays_is_defined_once():
    defined = [
        place(path)
        for path in PATHS
        for node in tree(path).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in getattr(node, "targets", [getattr(node, "target", None)])
        if getattr(target, "id", "") == "Floats"
    ]
    assert defined == ["_core/typing.py"]


def test_only_the_command_line_names_options():
    assert naming(OPTION) == []


def test_only_the_command_line_names_commands():
    assert naming(COMMAND) == []


def test_the_front_door_has_few_names():
    rooms = [name for name in stakes.__all__ if inspect.ismodule(getattr(stakes, name))]
    assert len(stakes.__all__) - len(rooms) <= MOST_NAMES
