"""Write the pages about the papers' experiments, from the stored results of full-scale runs."""

import re
from pathlib import Path

from replications import all_experiments
from replications.comparison import HEADER, duration, figures, nearness, reasons, tables, tally
from replications.engine import DEFAULT_FOLDER, NO_DATA, command
from replications.store import RESULTS, findings, kept_results

INDEX = """# Results

The experiments of the papers, [run again](../howto/reproduce.md), and every number that was
published beside ours. A number *agrees* when it is as near to ours as the page of its experiment
says, and is *within noise* when it would be if ours were three standard errors nearer. Where it
*differs*, the page says why.

{table}

Not repeated here: AMOC curves, active learning, and the costs of acquiring attributes.

```{{toctree}}
:hidden:

{names}
```
"""


def write_pages(target, source=RESULTS, known=None):
    """Write a page for each experiment with results, its figures, and an index of all."""
    target = Path(target)
    (target / "figures").mkdir(parents=True, exist_ok=True)
    for old in (*target.glob("*.md"), *target.glob("figures/*.png")):
        old.unlink()
    rows, names = [], []
    for experiment in all_experiments() if known is None else known:
        results = kept_results(experiment.name, Path(source))
        if results is None:
            found = "no full-scale run yet"
            what = f"`{experiment.name}`"
        else:
            pictures = _drawn(experiment, results)
            for figure, picture in pictures.items():
                (target / "figures" / f"{experiment.name}-{figure}.png").write_bytes(picture)
            page = page_of(experiment, results, pictures)
            (target / f"{experiment.name}.md").write_text(page, encoding="utf-8")
            names.append(experiment.name)
            found = tally(experiment, results)
            what = f"[`{experiment.name}`]({experiment.name}.md)"
        rows.append([what, plain(experiment.title), plain(experiment.source), plain(found)])
    table = markdown_table(["experiment", "what it shows", "repeats", "verdicts"], rows)
    index = INDEX.format(table=table, names="\n".join(names))
    (target / "index.md").write_text(index, encoding="utf-8")


def _drawn(experiment, results):
    """Draw the figures; if that fails, name the experiment in the error."""
    try:
        return figures(experiment, results)
    except Exception as error:
        error.add_note(
            f"This is {experiment.name}. If it has changed since its results were written, write "
            f"them anew: python -m replications run {experiment.name} --keep"
        )
        raise


def page_of(experiment, results, pictures):
    """Return the page of one experiment."""
    data = NO_DATA if experiment.reads_data else None
    run = command(experiment, DEFAULT_FOLDER, results.scale, results.seed, data)
    time = f"{duration(results.seconds)} on one processor"
    how = f"Scale {results.scale:g}, seed {results.seed}; {time}."
    found = plain(f"{tally(experiment, results)} {nearness(experiment)}".strip())
    parts = [
        f"# {plain(experiment.title)}",
        f"{plain(experiment.source)}.",
        f"```console\n$ {run}\n```",
        f"{how} {found}",
    ]
    for source, rows in tables(experiment, results).items():
        cells = [[plain(cell) for cell in row] for row in rows]
        parts += [markdown_table([plain(source), *HEADER], cells)]
    for title, sentences in (
        ("Why numbers differ", map(plain, reasons(experiment, results))),
        ("Found besides", findings(experiment.name)),  # written as Markdown
        ("Stand-ins", map(plain, experiment.stand_ins)),
    ):
        if items := [f"- {each}" for each in sentences]:
            parts += [f"## {title}", "\n".join(items)]
    if pictures:
        parts.append("## Figures")
    for figure in pictures:
        name = figure.replace("-", " ").capitalize()
        parts.append(f"![{plain(name)}](figures/{experiment.name}-{figure}.png)")
    return "\n\n".join(parts) + "\n"


def plain(text):
    """Escape the characters that Markdown would interpret."""
    return re.sub(r"([\\`*_{}\[\]<>$|#~])", r"\\\1", text)


def markdown_table(header, rows):
    """Return a Markdown table, with numbers aligned to the right."""
    numbers = header[1] == HEADER[0]
    rule = ["---", *["---:" if numbers else "---"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *rows])
