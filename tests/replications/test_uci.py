"""Data sets are read from a folder, or fetched, without the parts that the thesis leaves out."""

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from _helpers.made_up_sets import write_set
from sklearn.utils import Bunch

from replications.domains.uci import SOURCES, fetch_uci, read_uci
from replications.experiments.shared.contest import QUICK_FIRST
from stakes.errors import FileError, InputError, StakesWarning


def test_reads_discrete_and_missing_values(tmp_path):
    write_set(tmp_path, "iris")
    data = read_uci(tmp_path, "iris")
    assert data.names == ("size", "colour")
    assert data.discrete.tolist() == [False, True]
    assert np.isnan(data.X).sum(axis=0).tolist() == [1, 7]
    assert data.classes.tolist() == ["1", "2", "3"]
    assert data.shares.tolist() == [1 / 3] * 3
    assert data.codes[:4].tolist() == [0, 1, 2, 0]
    assert data.one_hot.shape == (60, 3)
    assert (data.one_hot[:, 1:].sum(axis=1) == ~np.isnan(data.X[:, 1])).all()


def test_leaves_out_the_rare_classes_of_appendix_a(tmp_path):
    rows = ["x,empty,class", *["1,,a"] * 6, *["2,,b"] * 5, *["3,,c"] * 7]
    (tmp_path / "abalone.csv").write_text("\n".join(rows))
    data = read_uci(tmp_path, "abalone")
    assert data.y.tolist() == ["a"] * 6 + ["c"] * 7
    assert data.discrete.tolist() == [False, True]  # the second has no known values
    assert data.one_hot.shape == (13, 1)
    (tmp_path / "audio.csv").write_text("\n".join(rows))
    assert read_uci(tmp_path, "audio").classes.tolist() == ["a", "b", "c"]
    (tmp_path / "soybean.csv").write_text("\n".join(rows))
    with pytest.raises(InputError, match="soybean: expected rows of two classes or more with at"):
        read_uci(tmp_path, "soybean")


def test_says_which_file_is_missing_and_where_to_get_it(tmp_path):
    with pytest.raises(FileError, match=r"lympho\.csv: there is no such file.*'Lymphography' of"):
        read_uci(tmp_path, "lympho")
    with pytest.raises(FileError, match=r"'lymph' on OpenML .*fetch_uci\('lympho'\)"):
        read_uci(tmp_path, "lympho")
    with pytest.raises(InputError, match=r"name: expected one of 'abalone', .*got 'irises'"):
        read_uci(tmp_path, "irises")


def test_refuses_files_of_another_kind(tmp_path):
    path = tmp_path / "wine.csv"
    for text in ("", "class\n1\n", "x,class\n"):
        path.write_text(text)
        with pytest.raises(FileError, match=r"wine\.csv: expected a header, attributes and a"):
            read_uci(tmp_path, "wine")
    path.write_text("x,class\n1,a\n2,b,c\n")
    with pytest.raises(FileError, match="row 3 has 3 fields, but the header has 2"):
        read_uci(tmp_path, "wine")


def test_fetches_from_openml(monkeypatch):
    asked = {}

    def fetch(name, **options):
        asked.update(options, name=name)
        frame = pd.DataFrame(
            {
                "age": pd.Categorical(["40-49", "'50-59'", "40-49", None]),
                "deg-malig": pd.Categorical(["1", "3", "2", "1"]),
                "breast": pd.Categorical(["left", "right", "left", "left"]),
                "size": [1.0, 2.0, np.nan, 4.0],
            }
        )
        return Bunch(data=frame, target=pd.Series(["no", "yes", "no", "yes"], dtype="category"))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.warns(StakesWarning, match="bcy: OpenML's breast-cancer .*2 classes and 4 attri"):
        data = fetch_uci("bcy")
    assert asked == {"name": "breast-cancer", "version": 1, "as_frame": True}
    assert data.discrete.tolist() == [False, False, True, False]
    assert data.X[:, 0].tolist()[:3] == [44.5, 54.5, 44.5]
    assert data.X[:, 1].tolist() == [1, 3, 2, 1]
    assert np.isnan(data.X).sum() == 2
    assert data.y.tolist() == ["no", "yes", "no", "yes"]
    with pytest.warns(StakesWarning, match="liver"):
        fetch_uci("liver", version=2)
    assert asked["target_column"] == "selector"


def test_says_that_openml_cannot_be_reached(monkeypatch):
    def fetch(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(FileError, match=r"zoo: OpenML cannot be reached \(no route.*zoo\.csv"):
        fetch_uci("zoo")


def test_knows_the_sixteen_data_sets_of_the_thesis():
    assert len(SOURCES) == 16
    assert sorted(QUICK_FIRST) == sorted(SOURCES)
    assert sum(source.classes == 2 for source in SOURCES.values()) == 5
