"""Strategy for cases of broken or odd files, which `tests._helpers.broken_checks` checks."""

from hypothesis import strategies as st

from tests._helpers.broken_files import QUESTIONS, SECOND, Case, broken, good, ways_of
from tests._helpers.file_soups import csv_soup, id_soup, json_soup, long_soup, number_soup


def _of(kind, asked="decisions", contents=None):
    contents = broken(good(kind, asked=asked)) if contents is None else contents
    ways = st.sampled_from(ways_of(kind, asked))
    return st.builds(Case, st.just(kind), contents, ways, st.just(asked))


def _joined(first, second):
    one, other = good(first, asked="join"), good(second, asked="join", names=SECOND)
    contents = st.one_of(
        st.tuples(broken(one), st.just(other)),
        st.tuples(st.just(one), broken(other)),
        st.tuples(broken(one), broken(other)),
    )
    return st.builds(Case, st.just(f"{first}+{second}"), contents, st.just("file"), st.just("join"))


cases = st.one_of(
    _of("csv", contents=csv_soup()),
    _of("tsv", contents=csv_soup("\t")),
    *(
        _of(kind, asked, soup(QUESTIONS[asked].columns[:-1]))
        for kind, soup in (("comma", number_soup), ("jsonl", json_soup))
        for asked in ("scores", "weights", "missing")
    ),
    *(_of(kind, "long", long_soup(kind)) for kind in ("csv", "jsonl")),
    *(
        st.builds(Case, st.just("+".join(kinds)), id_soup(kinds), st.just("file"), st.just("join"))
        for kinds in (("csv", "csv"), ("csv", "jsonl"), ("jsonl", "jsonl"))
    ),
    *(_of(kind) for kind in ("csv", "quoted", "tsv", "gz", "bz2", "jsonl", "parquet", "arrow")),
    *(_of(kind, "scores") for kind in ("csv", "comma", "jsonl", "parquet", "arrow")),
    *(_of(kind, "weights") for kind in ("csv", "comma", "jsonl", "parquet")),
    *(_of(kind, "missing") for kind in ("csv", "comma", "jsonl", "parquet")),
    *(_of(kind, "names") for kind in ("csv", "comma", "jsonl")),
    *(_of(kind, "long") for kind in ("csv", "jsonl", "parquet", "sheet")),
    *(_of("sheet", asked) for asked in ("weights", "missing")),
    _of("xlsx"),
    *(_joined(*kinds) for kinds in [("csv", "csv"), ("csv", "jsonl"), ("parquet", "csv")]),
)
"""All cases but count files, which `tests._helpers.broken_checks` creates by counting."""
