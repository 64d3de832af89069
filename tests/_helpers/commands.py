"""The commands of the command line, and the options that name files."""

from stakes.cli._app import command

INPUTS = {
    *("predictions", "pool", "labels", "counts", "matrix"),
    *("costs", "validation", "population"),
}
OUTPUTS = {"out", "json", "csv", "junit", "markdown", "report"}


def all_commands():
    """Return all commands, by the words that call them."""
    return {" ".join(words): made for words, made in _inside(command(), ())}


def _inside(made, words):
    if not hasattr(made, "commands"):
        yield words, made
        return
    for name, each in made.commands.items():
        yield from _inside(each, (*words, name))
