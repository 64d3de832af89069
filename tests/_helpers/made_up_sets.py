"""Synthetic files in place of the UCI data sets, which are not part of the project."""

import numpy as np


def write_set(folder, name, rows=60, classes=3):
    """Write a small data set with a discrete attribute and missing values."""
    rng = np.random.default_rng(0)
    lines = ["size,colour,class"]
    for number in range(rows):
        actual = number % classes
        size = "" if number == 3 else f"{actual + rng.normal():.2f}"
        colour = "" if number % 9 == 0 else ["red", "blue"][int(actual + rng.normal() > 1)]
        lines.append(f"{size},{colour},{actual + 1}")
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
