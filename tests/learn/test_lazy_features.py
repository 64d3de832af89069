import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from stakes.errors import InputError, InputTypeError
from stakes.learn import LazyOptionTreeClassifier, LazyTreeClassifier

LITERAL = {"entropy": "plain", "thresholds": "query"}


def medical(n=60, seed=0):
    """Return a data frame with a category, a text and a number, and what it is in numbers."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack(
        [rng.integers(0, 3, n), rng.integers(0, 4, n), rng.normal(size=n).round(1)]
    ).astype(float)
    y = ((codes[:, 0] == 1) ^ (codes[:, 2] > 0) ^ (rng.random(n) < 0.1)).astype(int)
    codes[rng.random(codes.shape) < 0.1] = np.nan
    kinds = [["red", "green", "blue"], ["n", "e", "s", "w"]]
    texts = [
        [None if np.isnan(code) else kinds[a][int(code)] for code in codes[:, a]] for a in (0, 1)
    ]
    return codes, texts, y


@pytest.mark.parametrize("preset", [{}, LITERAL])
def test_categories_of_data_frames_are_as_integer_codes(preset):
    codes, (colour, wind), y = medical()
    expected = (
        LazyOptionTreeClassifier(categorical_features=[0, 1], **preset)
        .fit(codes, y)
        .predict_proba(codes)
    )
    number = codes[:, 2]
    integers = pd.array([pd.NA if np.isnan(v) else round(v * 10) for v in number], dtype="Int64")
    frames = [
        pd.DataFrame({"colour": pd.Categorical(colour), "wind": wind, "number": number}),
        pd.DataFrame({"c": colour, "w": wind, "n": integers}).astype({"c": "string"}),
        pd.DataFrame({"c": colour, "w": wind, "n": number}).astype(object),
        pl.DataFrame({"c": colour, "w": wind, "n": number}, nan_to_null=True),
        pl.DataFrame({"c": colour, "w": wind, "n": number}).with_columns(
            pl.col("c").cast(pl.Categorical), pl.col("w").cast(pl.Enum(["n", "e", "s", "w"]))
        ),
        np.column_stack([np.array([colour, wind], dtype=object).T, number.astype(object)]),
        [[*pair, value] for *pair, value in zip(colour, wind, number.tolist(), strict=True)],
    ]
    for frame in frames:
        trees = LazyOptionTreeClassifier(**preset).fit(frame, y)
        assert trees.is_categorical_.tolist() == [True, True, False]
        np.testing.assert_array_equal(trees.predict_proba(frame), expected)


def test_categorical_features_by_index_name_and_mask():
    codes, _, y = medical()
    X = pd.DataFrame(codes, columns=["colour", "wind", "number"])
    expected = LazyTreeClassifier(categorical_features=[0]).fit(X, y).predict_proba(X)
    for chosen in (["colour"], [True, False, False], np.array([0]), np.array([1, 0, 0], bool)):
        trees = LazyTreeClassifier(categorical_features=chosen).fit(X, y)
        np.testing.assert_array_equal(trees.predict_proba(X), expected)
    for none in (None, [], "from_dtype"):
        assert not LazyTreeClassifier(categorical_features=none).fit(X, y).is_categorical_.any()


def test_categories_that_are_numbers_can_be_taken_for_numbers():
    codes, _, y = medical()
    X = pd.DataFrame(codes, columns=["colour", "wind", "number"])
    typed = X.assign(colour=X["colour"].astype("category"))
    assert LazyTreeClassifier().fit(typed, y).is_categorical_.tolist() == [True, False, False]
    trees = LazyTreeClassifier(categorical_features=None).fit(X, y)
    expected = trees.predict_proba(X)
    np.testing.assert_array_equal(trees.predict_proba(typed), expected)
    np.testing.assert_array_equal(trees.fit(typed, y).predict_proba(X), expected)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ([3], "expected indices from 0 to 2, got 3"),
        ([-1], "expected indices from 0 to 2, got -1"),
        ([True], "a boolean for each of the 3 features, got 1"),
        ([0.5], "expected 'from_dtype', None, or a list"),
        ("all", "expected 'from_dtype', None, or a list"),
        (["colour"], "got the name 'colour', but the features of X have no names"),
    ],
)
def test_categorical_features_that_are_none(chosen, said):
    codes, _, y = medical()
    with pytest.raises(InputError, match=f"categorical_features: .*{said}"):
        LazyTreeClassifier(categorical_features=chosen).fit(codes, y)


def test_a_categorical_feature_that_a_frame_has_not():
    codes, _, y = medical()
    X = pd.DataFrame(codes, columns=["colour", "wind", "number"])
    with pytest.raises(InputError, match=r"'color' is not among the features of X, .*'colour'"):
        LazyTreeClassifier(categorical_features=["color"]).fit(X, y)


def test_a_category_that_was_never_seen_is_not_tested():
    codes, (colour, wind), y = medical()
    X = pd.DataFrame({"colour": colour, "wind": wind, "number": codes[:, 2]})
    trees = LazyOptionTreeClassifier().fit(X, y)
    unseen, missing = X.assign(colour="violet"), X.assign(colour=None)
    np.testing.assert_array_equal(trees.predict_proba(unseen), trees.predict_proba(missing))
    assert "colour" not in trees.explain(unseen[:1])


def test_texts_where_numbers_are_expected():
    codes, (colour, _), y = medical()
    X = pd.DataFrame({"colour": colour, "number": codes[:, 2]})
    with pytest.raises(InputError, match=r"'colour' was expected to have numbers, got '(red|g|b)"):
        LazyTreeClassifier(categorical_features=None).fit(X, y)
    trees = LazyTreeClassifier().fit(X, y)
    with pytest.raises(InputError, match="'number' was expected to have numbers, got 'high'"):
        trees.predict(X.assign(number="high"))


def test_columns_that_cannot_be_tested():
    y = [0, 1]
    for kind in (pd, pl):
        times = kind.DataFrame({"when": np.array(["2020-01-01", "2020-01-02"], "datetime64[us]")})
        with pytest.raises(InputError, match="'when' has times"):
            LazyTreeClassifier().fit(times, y)
        with pytest.raises(InputError, match="'a' contains infinity at position 1"):
            LazyTreeClassifier().fit(kind.DataFrame({"a": [0.0, np.inf]}), y)
        with pytest.raises(ValueError, match=r"0 sample|minimum of 1"):
            LazyTreeClassifier().fit(kind.DataFrame({"a": []}), [])
    with pytest.raises(InputTypeError, match=r"'feature_0'.*string or a number.*unhashable"):
        LazyTreeClassifier().fit(np.array([[{}], ["b"]], dtype=object), y)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        LazyTreeClassifier().fit(csr_array(np.eye(2)), y)
