"""Groups and strata by which rows are counted separately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Column, Label, Labels, as_column, as_labels, in_order
from stakes.errors import DesignError, InputError


def _nothing() -> Labels | None:
    return None


@dataclass(frozen=True)
class Parts:
    """Group and stratum of each part of the counts.

    Attributes
    ----------
    groups : tuple or None
        The name of each part's group; None where the rows of a part are independent.
    strata : tuple or None
        The name of each part's stratum; None where there are no strata.
    """

    groups: Labels | None = field(default_factory=_nothing)
    strata: Labels | None = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        sizes = {"groups": self.groups, "strata": self.strata}
        given = {name: len(names) for name, names in sizes.items() if names is not None}
        if len(given) > 1:
            validate.same_length(given)
        alone = self.groups if self.strata is None else self.strata if self.groups is None else None
        keys = self.keys() if alone is None else alone
        if len(set(keys)) < len(keys):
            keys = self.keys()
            twice = next(key for index, key in enumerate(keys) if key in keys[:index])
            raise InputError(
                "groups" if self.strata is None else "strata",
                f"each part needs a name of its own; {_spelled(twice)} occurs twice.",
            )

    @classmethod
    def of(cls, n: int, groups: Any, strata: Any) -> Self:
        """Check the names of `n` parts, and return the parts."""
        both = groups is not None and strata is not None
        names = [
            None if given is None else as_labels(given, what, distinct=not both)
            for what, given in (("groups", groups), ("strata", strata))
        ]
        for what, labels in zip(("groups", "strata"), names, strict=True):
            if labels is not None:
                validate.same_length({"counts": n, what: len(labels)})
        return cls(*names)

    @classmethod
    def known(cls, groups: Labels | None, strata: Labels | None) -> Self:
        """Return parts whose names are known to be distinct, without the slow check of that."""
        parts = cls.__new__(cls)
        object.__setattr__(parts, "groups", groups)
        object.__setattr__(parts, "strata", strata)
        return parts

    @classmethod
    def numbered(cls, numbers: NDArray[np.intp], what: str) -> Self:
        """Return groups or strata that are numbers, whose names are made on first use.

        Making a hundred thousand names takes as long as counting a million rows, and they are
        seldom needed.
        """
        other = "strata" if what == "groups" else "groups"
        parts = cls.__new__(cls)
        object.__setattr__(parts, other, None)
        object.__setattr__(parts, "_numbers", numbers)
        return parts

    def __getattr__(self, name: str) -> Any:
        """Make the names of numbered parts on first use."""
        if name not in ("groups", "strata") or "_numbers" not in self.__dict__:
            raise AttributeError(name)
        names = tuple(self.__dict__["_numbers"].tolist())
        object.__setattr__(self, name, names)
        return names

    @classmethod
    def of_rows(cls, groups: Any, strata: Any) -> tuple[Column, Self]:
        """Return the part of each row as a column of positions, and the parts."""
        return cls.of_columns(*part_columns(groups, strata))

    @classmethod
    def of_columns(cls, groups: Column | None, strata: Column | None) -> tuple[Column, Self]:
        """Return the part of each row as a column of positions, and the parts."""
        if groups is None or strata is None:
            column = groups if strata is None else strata
            if column is None:
                raise DesignError("groups, strata", "expected groups, strata, or both.")
            codes, names = ordered_codes(column)
            parts = cls.known(names, None) if strata is None else cls.known(None, names)
        else:
            validate.same_length({groups.name: len(groups), strata.name: len(strata)})
            (inner, group_names), (outer, stratum_names) = (
                ordered_codes(groups),
                ordered_codes(strata),
            )
            keys, codes = np.unique(outer * len(group_names) + inner, return_inverse=True)
            of_stratum, of_group = np.divmod(keys, len(group_names))
            parts = cls.known(
                tuple(group_names[index] for index in of_group.tolist()),
                tuple(stratum_names[index] for index in of_stratum.tolist()),
            )
        first = groups if groups is not None else strata
        repeats = None if first is None else first.repeats
        return Column("groups", codes, 0, range(len(parts)), repeats), parts

    def __len__(self) -> int:
        if "_numbers" in self.__dict__:
            return len(self.__dict__["_numbers"])
        named = (names for names in (self.groups, self.strata) if names is not None)
        return max(map(len, named), default=0)

    def keys(self) -> Sequence[tuple[Label, Label]]:
        """Return the stratum and the group of each part."""
        nothing = (None,) * len(self)
        filled = [nothing if names is None else names for names in (self.strata, self.groups)]
        return list(zip(*filled, strict=True))

    def merged(self, other: Parts) -> tuple[Parts, NDArray[np.intp], NDArray[np.intp]]:
        """Return the parts of both, and the positions of each one's own parts in them.

        Parts with the same names are the same part.
        """
        for what in ("groups", "strata"):
            if (getattr(self, what) is None) != (getattr(other, what) is None):
                raise DesignError(
                    what,
                    "counts with them cannot be merged with counts without.",
                    f"Count all parts with {what}=, or none.",
                )
        mine, theirs = self.keys(), other.keys()
        together = list({**dict.fromkeys(mine), **dict.fromkeys(theirs)})
        strata, groups = ([key[place] for key in together] for place in (0, 1))
        order = np.lexsort([_ranks(groups), _ranks(strata)])
        together = [together[index] for index in order]
        place = {key: index for index, key in enumerate(together)}
        union = Parts(
            None if self.groups is None else tuple(group for _, group in together),
            None if self.strata is None else tuple(stratum for stratum, _ in together),
        )
        return (
            union,
            np.array([place[key] for key in mine], dtype=np.intp),
            np.array([place[key] for key in theirs], dtype=np.intp),
        )

    def extent(self) -> str:
        """Return the numbers of groups and strata as text."""
        found = [
            f"{len(set(names))} {what}"
            for what, names in (("groups", self.groups), ("strata", self.strata))
            if names is not None
        ]
        return " and ".join(found)

    def to_dict(self) -> dict[str, list[Label]]:
        """Return the names as plain lists.

        Returns
        -------
        dict
            The groups and the strata, if there are any.
        """
        names = {"groups": self.groups, "strata": self.strata}
        return {what: list(each) for what, each in names.items() if each is not None}

    def stratum_codes(self) -> tuple[NDArray[np.intp], Labels]:
        """Return the position of each part's stratum in the sorted strata, and their names."""
        if self.strata is None:
            return np.zeros(len(self), dtype=np.intp), ("",)
        return _codes(self.strata)

    def group_codes(self) -> NDArray[np.intp] | None:
        """Return the position of each part's group in the distinct groups; None without groups."""
        if self.strata is None:  # avoid making the names of numbered parts
            return None if self.__dict__.get("groups", ()) is None else np.arange(len(self))
        return None if self.groups is None else _codes(self.groups)[0]


def part_columns(groups: Any, strata: Any) -> tuple[Column | None, Column | None]:
    """Return the columns of groups and of strata, where they are given."""
    return (
        None if groups is None else part_column(groups, "groups"),
        None if strata is None else part_column(strata, "strata"),
    )


def part_column(values: Any, name: str) -> Column:
    """Return a column of groups or strata, without a limit on their number."""
    return as_column(values, name, most=None)


def ordered_codes(column: Column) -> tuple[NDArray[np.intp], Labels]:
    """Return codes into the values that occur, in their natural order."""
    used = column.used()
    present = column.present(used)
    names = in_order(present)
    lookup = np.zeros(len(used), dtype=np.intp)
    if list(names) == present:
        lookup[used] = np.arange(len(names))
    else:
        place = {name: index for index, name in enumerate(names)}
        lookup[used] = [place[name] for name in present]
    return column.looked_up(lookup), names


def _codes(names: Labels) -> tuple[NDArray[np.intp], Labels]:
    distinct = in_order(set(names))
    place = {name: index for index, name in enumerate(distinct)}
    return np.array([place[name] for name in names], dtype=np.intp), distinct


def _ranks(names: Sequence[Label]) -> NDArray[np.intp]:
    if all(name is None for name in names):
        return np.zeros(len(names), dtype=np.intp)
    return _codes(tuple(names))[0]


def _spelled(key: tuple[Label, Label]) -> str:
    return " of ".join(repr(name) for name in reversed(key) if name is not None)


def check_factors(factors: Any, parts: Parts | None) -> None:
    """Raise unless there is a factor for the negatives and the positives of each part."""
    shape = (0 if parts is None else len(parts), 2)
    if np.shape(factors) != shape or not (np.isfinite(factors) & (factors >= 0)).all():
        raise InputError("factors", f"expected numbers of 0 or more, of shape {shape}.")
