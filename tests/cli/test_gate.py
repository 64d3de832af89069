"""A gate judges every candidate; if it cannot judge one, it says so and does not pass."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

COSTS = ["-c", "costs.csv"]
GATE = ["compare", "a.csv", *COSTS, "--baseline", "old", "--gate"]
N = 240


def names(fraud):
    return np.where(fraud, "fraud", "ok")


@pytest.fixture
def write(folder):
    """Return a function that writes the rows, with a good model, and other columns as given."""
    rng = np.random.default_rng(5)
    fraud = rng.random(N) < 0.4

    def made(**columns):
        table = {"actual": names(fraud), "old": names(fraud ^ (rng.random(N) < 0.05)), **columns}
        rows = zip(*table.values(), strict=True)
        text = "\n".join([",".join(table), *(",".join(map(str, row)) for row in rows)])
        (folder / "a.csv").write_text(text + "\n")

    made.fraud, made.wrong = fraud, names(~fraud)
    return made


def spelt(values, form):
    rng, capitals = np.random.default_rng(1), np.char.upper(values)
    return {
        "case": capitals,
        "punctuation": np.array([f"<{each}>" for each in values]),
        "unknown labels": np.where(values == "ok", "legit", "scam"),
        "one unknown label": np.where(values == "ok", "fine", values),
        "missing": np.where(rng.random(len(values)) < 0.6, "n/a", values),
        "missing in other case": np.where(rng.random(len(values)) < 0.6, "NULL", capitals),
    }[form]  # fmt: skip


FORMS = [
    "case", "punctuation", "unknown labels", "one unknown label", "missing",
    "missing in other case",
]  # fmt: skip


@pytest.mark.parametrize("quiet", [(), ("-q",)])
@pytest.mark.parametrize("form", FORMS)
def test_a_candidate_that_cannot_be_read_is_not_passed(form, quiet, stakes, write):
    write(new=spelt(write.wrong, form), fine=names(write.fraud))
    said = stakes(*quiet, *GATE)
    if said.out == "":  # half of its decisions are readable, so the others are errors
        assert "column 'new'" in said.err
        assert said.code == 2
        return
    assert said.code == 2
    assert "Gate not passed. fine passed. Could not judge new: " in " ".join(said.out.split())
    assert "stakes: the gate could not judge 'new': " in said.err
    found = json.loads(stakes("-q", *GATE, "--json", "-").out)["gate"]
    assert (found["outcome"], found["passed"]) == ("could not judge", False)
    assert (found["judged"], list(found["unjudged"])) == (["fine"], ["new"])


def test_a_candidate_alone_that_cannot_be_read_is_not_passed(stakes, write):
    write(new=np.char.upper(write.wrong))
    said = stakes("-q", *GATE)
    assert said.code == 2
    assert "Could not judge new: it has" in said.out
    said = stakes("-q", *GATE, "--candidate", "new")
    assert (said.code, said.out) == (2, "")
    assert "--candidate: the column 'new' cannot be used: it has" in said.err


@pytest.mark.parametrize(
    "feature",
    [
        {"age": np.arange(N) % 60 + 18},
        {"visits": np.arange(N) % 3},
        {"level": np.arange(N) % 2 + 2},
        {"income": np.linspace(0, 9, N)},
        {"town": [f"town {i % 40}" for i in range(N)]},
        {"month": [("jan", "feb", "mar", "apr", "may")[i % 5] for i in range(N)]},
        {"status": [("ok", "late", "closed")[i % 3] for i in range(N)]},
        {"version": ["v3"] * N},
        {"note": [""] * N},
        {"id": [f"p{i}" for i in range(N)]},
    ],
    ids=lambda each: next(iter(each)),
)
def test_features_are_not_judged(feature, stakes, write):
    write(new=names(write.fraud), **feature)
    said = stakes("-q", *GATE, "--json", "-")
    assert (said.code, said.err) == (0, "")
    found = json.loads(said.out)["gate"]
    assert (found["judged"], found["unjudged"], found["passed"]) == (["new"], {}, True)


def test_what_is_named_is_judged_and_the_rest_is_not(stakes, write):
    write(new=names(write.fraud), odd=np.char.upper(write.wrong), bad=write.wrong)
    found = stakes("-q", *GATE, "--candidate", "new", "--json", "-")
    assert found.code == 0
    assert json.loads(found.out)["gate"]["judged"] == ["new"]
    assert stakes("-q", *GATE, "--candidate", "new", "--candidate", "bad").code == 1
    assert stakes("-q", *GATE, "-m", "old", "-m", "new").code == 0  # columns that are named


def test_policies_are_named_by_their_threshold(stakes, write):
    rng = np.random.default_rng(2)
    score = (0.5 * write.fraud + 0.5 * rng.random(N)).round(3)
    write(new=write.wrong, new_score=score)
    assert stakes("-q", *GATE).code == 1  # as decided
    for candidate, judged in (("new@0.5", "new@0.5"), ("new@best", None)):
        said = stakes("-q", *GATE, "--candidate", candidate, "--json", "-")
        assert said.code == 0, said.err
        found = json.loads(said.out)
        policies = {each["name"]: each for each in found["policies"]}
        name = found["gate"]["judged"][0]
        assert judged in (None, name)
        assert policies[name]["model"] == "new"
        assert policies[name]["kind"] == "threshold"
    assert stakes("-q", *GATE, "--candidate", "new@0").code == 1
    write(new_score=score, other=names(write.fraud))
    said = stakes("-q", *GATE, "--json", "-")  # scores only: at the chosen threshold
    judged = json.loads(said.out)["gate"]["judged"]
    assert [each.split("@")[0] for each in sorted(judged)] == ["new", "other"]
    assert "new" not in judged


def test_a_model_without_a_threshold_is_not_passed(stakes, folder):
    rows = [
        f"{'fraud' if i < 4 else 'ok'},{'fraud' if i < 3 else 'ok'},ok,{i - 30}" for i in range(60)
    ]
    (folder / "a.csv").write_text("\n".join(["actual,old,fine,new_score", *rows]) + "\n")
    said = stakes("-q", *GATE)
    assert said.code == 2
    assert "could not judge 'new': there are only 4 rows of the class 'fraud'" in said.err


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_a_gate_on_counts_does_not_pass_what_it_could_not_judge(stakes, write, folder, ending):
    write(new=np.char.upper(write.wrong), fine=names(write.fraud))
    rows = (folder / "a.csv").read_text().splitlines(keepends=True)
    for name, part in (("one", rows[1:100]), ("two", rows[100:])):
        (folder / "part.csv").write_text("".join([rows[0], *part]))
        counted = stakes("-q", "count", "part.csv", *COSTS, "--out", f"{name}.{ending}")
        assert counted.code == 0
    merged = stakes("-q", "merge", f"one.{ending}", f"two.{ending}", "--out", f"all.{ending}")
    assert merged.code == 0
    for file in (f"two.{ending}", f"all.{ending}"):
        said = stakes("-q", "compare", file, *COSTS, "--baseline", "old", "--gate")
        assert said.code == 2
        assert "Could not judge new: it has 'OK'" in said.out or "'FRAUD'" in said.out
        assert "stakes: the gate could not judge 'new': " in said.err
    named = ("--baseline", "old", "--candidate", "fine", "--gate")
    assert stakes("-q", "compare", f"all.{ending}", *COSTS, *named).code == 0
    said = stakes("-q", "compare", f"all.{ending}", *COSTS, *named[:2], "--candidate", "new")
    assert f"--candidate: the column 'new' cannot be used: in one.{ending}, it has" in said.err


@pytest.mark.parametrize("given", [["new"], "new", {"new": 1}])
def test_counts_whose_doubtful_columns_are_damaged_are_refused(given, stakes, write, folder):
    write(new=names(write.fraud))
    assert stakes("-q", "count", "a.csv", *COSTS, "--out", "a.json").code == 0
    content = json.loads((folder / "a.json").read_text())
    del content["checksum"]
    (folder / "a.json").write_text(json.dumps({**content, "doubtful": given}))
    said = stakes("-q", "compare", "a.json", *COSTS, "--baseline", "old", "--gate")
    assert (said.code, said.out) == (2, "")
    assert "a.json: the count file is damaged" in said.err


@pytest.mark.parametrize("name", ["new_id", "risk_index", "prob_ok"])
def test_decisions_under_the_name_of_something_else_are_not_passed(name, stakes, write):
    write(**{"fine": names(write.fraud), name: write.wrong})
    said = stakes("-q", *GATE)
    assert said.code == 2
    assert name in f"{said.out} {said.err}"


@pytest.mark.parametrize("empty", ["n/a", "", 0, 1.0, False], ids=repr)
@pytest.mark.parametrize("name", ["new", "candidate_2024", "new_v2"])
def test_a_candidate_with_one_value_is_not_passed(empty, name, stakes, write):
    write(**{"fine": names(write.fraud), name: np.full(N, empty)})
    assert stakes("-q", *GATE).code == 2


def rows_of(kind, wrong):
    """Return the candidate's column in a Parquet file, none of whose values is a decision."""
    return {
        "null": pa.nulls(N),
        "text null": pa.nulls(N, pa.string()),
        "nan": np.full(N, np.nan),
        "bool": wrong == "fraud",
        "list": pa.array([[each] for each in wrong]),
        "struct": pa.array([{"label": each} for each in wrong]),
        "scores in percent": np.linspace(10, 91, N),
        "dates": pa.array(np.arange(N).astype("datetime64[D]")),
        "label and more": [f"{each} {place}" for place, each in enumerate(wrong)],
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "null", "text null", "nan", "bool", "list", "struct", "scores in percent", "dates",
        "label and more",
    ],
)  # fmt: skip
def test_a_candidate_without_decisions_is_not_passed(kind, stakes, write, folder):
    """Whether it is named or not, and beside the decisions of another column of that name."""
    right = names(write.fraud)
    columns = {"actual": right, "old": right, "fine": right, "new": rows_of(kind, write.wrong)}
    for more in ({}, {"pred_new": right}):
        pq.write_table(pa.table(columns | more), folder / "a.parquet")
        gate = ["-q", "compare", "a.parquet", *GATE[2:]]
        for named in ((), ("--candidate", "new")):
            said = stakes(*gate, *named)
            assert said.code == 2, (more, named)
            assert "'new'" in said.err


def test_a_named_candidate_is_judged_itself_or_not_at_all(stakes, write):
    """Not by the threshold of its scores in place of decisions that cannot be read."""
    score = np.where(write.fraud, 0.9, 0.1).round(2)
    write(new=spelt(write.wrong, "missing"), new_score=score)
    said = stakes("-q", *GATE, "--candidate", "new")
    assert said.code == 2
    assert "new" in said.err


@pytest.mark.parametrize("others", [{}, {"fine": None}], ids=["alone", "beside another"])
@pytest.mark.parametrize(
    "written", [np.int64, float, bool, "yes", "01"], ids=["0/1", "0.0/1.0", "bool", "words", "text"]
)
def test_numbers_that_may_be_decisions_are_not_passed(written, others, stakes, write):
    """Beside labels in words they may be features, which only naming the candidates can tell."""
    wrong = write.wrong == "fraud"
    words = {"yes": ("no", "yes"), "01": ("0", "1")}
    new = np.where(wrong, *words[written][::-1]) if written in words else wrong.astype(written)
    write(new=new, **dict.fromkeys(others, names(write.fraud)))
    assert stakes("-q", *GATE).code == 2
    for named in (["--candidate", "new"], ["-m", "old", "-m", "new"]):
        said = stakes("-q", *GATE, *named)
        assert said.code in (1, 2), said
    said = stakes("-q", *GATE, "--candidate", "new")
    assert said.code == 2
    assert "'new'" in said.err


@pytest.mark.parametrize(("no", "yes"), [("1", "2"), ("-1", "1"), ("0.0", "1")])
def test_numbers_that_classes_are_coded_by_may_be_decisions(no, yes, stakes, write):
    write(new=np.where(write.wrong == "fraud", yes, no), fine=names(write.fraud))
    said = stakes("-q", *GATE)
    assert said.code == 2
    assert "could not judge 'new': it has " in said.err
    assert stakes("-q", *GATE, "--candidate", "fine").code == 0
    assert stakes("-q", "count", "a.csv", *COSTS, "--out", "counts.json").code == 0
    assert stakes("-q", "compare", "counts.json", *COSTS, "--baseline", "old", "--gate").code == 2


MANY = 12_000
"""Number of rows: a fraction of them already has more distinct texts than labels are allowed."""


def written_many(folder, name, column, *, shards, good="fine"):
    rng = np.random.default_rng(8)
    fraud = rng.random(MANY) < 0.1
    old = names(fraud ^ (rng.random(MANY) < 0.05))
    new = column(names(~fraud), rng)
    rows = [",".join(row) for row in zip(names(fraud), old, names(fraud), new, strict=True)]
    header = f"actual,old,{good},{name}\n"
    (folder / "a.csv").write_text(header + "\n".join(rows) + "\n")
    if not shards:
        return "a.csv"
    (folder / "many").mkdir(exist_ok=True)
    for part in range(3):  # if errors come first, the first part has only errors
        own = "\n".join(rows[part * MANY // 3 : (part + 1) * MANY // 3])
        (folder / "many" / f"{part}.csv").write_text(f"{header}{own}\n")
    return "many"


def failing(share):
    def made(wrong, rng):
        failed = rng.random(MANY) < share
        return [f"error: request {i}" if failed[i] else each for i, each in enumerate(wrong)]

    return made


def failing_first(wrong, _):
    return [f"error: request {i}" if i < MANY / 2 else each for i, each in enumerate(wrong)]


def one_label(_, rng):
    failed = rng.random(MANY) < 0.4
    return [f"error: request {i}" if failed[i] else "ok" for i in range(MANY)]


def in_capitals(wrong, rng):
    return [each.upper() if each in ("ok", "fraud") else each for each in failing(0.6)(wrong, rng)]


@pytest.mark.parametrize("shards", [False, True], ids=["file", "folder"])
@pytest.mark.parametrize(
    "column",
    [failing(0.4), failing(0.97), failing_first, one_label, in_capitals],
    ids=["some", "most", "first", "one label", "capitals"],
)
def test_a_candidate_with_very_many_other_values_is_not_passed(column, shards, stakes, folder):
    file = written_many(folder, "new", column, shards=shards)
    gate = ["compare", file, *COSTS, "--baseline", "old", "--gate"]
    said = stakes("-q", *gate)
    assert said.code == 2
    assert "could not judge 'new': it has " in said.err
    assert "more values than classes have" in said.err
    assert stakes("-q", *gate, "--candidate", "fine").code == 0


@pytest.mark.parametrize("shards", [False, True], ids=["file", "folder"])
def test_texts_of_very_many_values_are_features(shards, stakes, folder):
    def comments(_, rng):
        few = ("ok", "fraud", "thank you")
        said = rng.random(MANY)
        return [few[i % 3] if said[i] < 0.005 else f"comment {i}" for i in range(MANY)]

    def mostly_zero(_, rng):
        counts = np.where(rng.random(MANY) < 0.3, np.arange(MANY), np.arange(MANY) % 2)
        return np.where(rng.random(MANY) < 0.05, "?", counts.astype(str))

    for name, column in {"comment": comments, "views": mostly_zero}.items():
        file = written_many(folder, name, column, shards=shards)
        said = stakes("-q", "compare", file, *COSTS, "--baseline", "old", "--gate", "--json", "-")
        assert (said.code, said.err) == (0, "")
        assert json.loads(said.out)["gate"]["judged"] == ["fine"]


@pytest.mark.parametrize("shards", [False, True], ids=["file", "folder"])
def test_numbers_of_classes_among_very_many_texts_are_not_passed(shards, stakes, folder):
    """Where classes are numbers, other numbers are features, and other texts are not."""

    def made(wrong, rng):
        return failing(0.4)(np.where(wrong == "ok", "0", "1"), rng)

    def zeros(_, rng):
        counts = np.where(rng.random(MANY) < 0.45, np.arange(MANY), np.arange(MANY) % 2)
        return np.where(rng.random(MANY) < 0.05, "?", counts.astype(str))

    for name, column, code in (("new", made, 2), ("views", zeros, 0)):
        file = written_many(folder, name, column, shards=shards, good="pred_fine")
        for each in (folder / file).glob("*.csv") if shards else [folder / file]:
            text = each.read_text().replace("fraud", "1").replace("ok", "0")
            each.write_text(text.replace("actual,old", "actual,pred_old"))
        costs = ("--fp", "3", "--fn", "100")
        gate = ("compare", file, *costs, "--baseline", "old", "--gate")
        assert stakes("-q", *gate).code == code


def test_ids_with_decisions_among_very_many_values_are_not_passed(stakes, folder):
    written_many(folder, "new_id", failing(0.4), shards=False)
    assert stakes("-q", *GATE).code == 2


@pytest.mark.parametrize("name", ["new", "new_model", "model_b", "pred_b", "b_decision", "v2"])
@pytest.mark.parametrize("words", [("approve", "deny", "review"), ("legit",)])
def test_other_words_under_the_name_of_a_model_are_not_passed(name, words, stakes, write):
    write(v1=names(write.fraud), **{name: [words[i % len(words)] for i in range(N)]})
    said = stakes("-q", *GATE)
    assert said.code == 2
    assert f"could not judge {name.removeprefix('pred_')!r}" in said.err.replace("pred_", "")


@pytest.mark.parametrize("name", ["region", "channel", "modelling", "model_type", "news", "x2"])
def test_few_words_under_the_name_of_a_feature_are_not_judged(name, stakes, write):
    write(v1=names(write.fraud), **{name: [("north", "south", "west")[i % 3] for i in range(N)]})
    said = stakes("-q", *GATE)
    assert (said.code, said.err) == (0, "")


def test_one_label_in_most_rows_is_not_passed(stakes, write):
    """A model that fails in two ways, and otherwise calls everything the same."""
    few = ["timeout" if i % 7 == 0 else "refused" if i % 7 == 1 else "ok" for i in range(N)]
    write(fine=names(write.fraud), served=few)
    assert stakes("-q", *GATE).code == 2


@pytest.mark.parametrize(
    "name",
    [
        "p_ok",
        "prob_ok",
        "new_prob_ok",
        "new_ok_prob",
        "ok_prob_new",
        "p_new_ok",
        "new_ok",
        "newProbOk",
    ],
)
@pytest.mark.parametrize("others", ["fine", "pred_fine"])
def test_scores_of_another_class_are_not_taken_for_those_of_the_positive_one(
    name, others, stakes, write
):
    """The model is sure that frauds are fine, and that the others are not."""
    rng = np.random.default_rng(3)
    score = np.where(write.fraud, 0.9, 0.1) + 0.05 * rng.random(N)
    write(**{others: names(write.fraud), name: score.round(3)})
    said = stakes("-q", *GATE)
    assert said.code == 2, said.out
    assert f"could not judge {name!r}: it is named as scores of 'ok' are" in said.err
    assert stakes("-q", *GATE, "--candidate", "fine").code == 0
    assert stakes("-q", *GATE, "--candidate", name).code == 2


def test_scores_of_both_classes_belong_to_a_model(stakes, write):
    score = np.where(write.fraud, 0.9, 0.1)
    ok = (1 - score).round(2)
    for columns in (
        {"new_prob_fraud": score, "new_prob_ok": ok},
        {"new": names(write.fraud), "new_prob_ok": ok},
        {"fine": names(write.fraud), "prob_fraud": score, "prob_ok": ok},
    ):
        write(**columns)
        said = stakes("-q", *GATE)
        assert (said.code, said.err) == (0, "")


def test_scores_that_name_the_positive_class_are_judged(stakes, write):
    """Also where other models are known by their names."""
    score = np.where(write.fraud, 0.1, 0.9) + 0.05 * np.random.default_rng(3).random(N)
    write(pred_fine=names(write.fraud), new_prob_fraud=score.round(3))
    said = stakes("-q", *GATE)
    assert said.code == 1
    assert "new_prob_fraud" in said.out


@pytest.mark.parametrize("form", ["case", "punctuation"])
def test_ids_with_labels_in_another_form_are_not_passed(form, stakes, write):
    write(fine=names(write.fraud), new_id=spelt(write.wrong, form))
    said = stakes("-q", *GATE)
    assert said.code == 2
    assert "could not judge 'new_id': it is named as ids" in said.err


def test_the_reason_is_given_once(stakes, write, folder):
    write(pred_new=["legit"] * N)
    said = stakes("-q", *GATE)
    assert said.err.count("named as decisions are") == 0
    (folder / "a.csv").write_text("actual,pred\n" + "fraud,?\nok,n/a\n" * 20)
    said = stakes("-q", "evaluate", "a.csv", *COSTS)
    assert said.err.count("named as decisions are") == 1
    assert "it is named as decisions are, but all of its values are missing" in said.err


@pytest.mark.parametrize("name", ["new", "challenger", "model_b", "new_fraud"])
def test_fractions_under_the_name_of_a_model_are_not_passed(name, stakes, write):
    """Scores, it may be, where the other models are known by their names; features otherwise."""
    score = (np.where(write.fraud, 0.1, 0.8) + 0.1 * np.random.default_rng(3).random(N)).round(3)
    write(pred_fine=names(write.fraud), **{name: score})
    said = stakes("-q", *GATE)
    assert said.code == 2
    assert f"could not judge {name!r}: it has numbers from 0 to 1" in said.err
    write(pred_fine=names(write.fraud), age=score)
    assert stakes("-q", *GATE).code == 0


@pytest.mark.parametrize("more", [(), ("--candidate", "new")])
@pytest.mark.parametrize("form", ["wide", "scores", "long", "counted"])
def test_a_candidate_that_lacks_rows_is_not_passed(form, more, stakes, folder, write):
    """Where it has no answer it may be as wrong as it likes, and such rows are left out."""
    right, lacks = names(write.fraud), write.fraud & (np.arange(N) % 3 > 0)
    if form == "long":
        rows = [
            f"{i},{right[i]},{name},{right[i]}"
            for name in ("old", "new")
            for i in range(N)
            if name == "old" or not lacks[i]
        ]
        (folder / "a.csv").write_text("\n".join(["id,actual,model,pred", *rows]) + "\n")
    elif form == "scores":
        write(new_score=np.where(lacks, "", np.where(write.fraud, 0.9, 0.1).astype(str)))
    else:
        write(new=np.where(lacks, "", right))
    words = [*GATE, "--drop-missing", *more]
    if form == "counted":
        count = ["count", "a.csv", *COSTS, "--drop-missing", "--out", "c.json"]
        assert stakes("-q", *count).code == 0
        words = ["compare", "c.json", *COSTS, "--baseline", "old", "--gate", *more]
    said = stakes("-q", *words, "--json", "g.json")
    assert said.code == 2
    assert f"could not judge 'new': it lacks a value in {lacks.sum()} of 240 rows" in said.err
    gate = json.loads((folder / "g.json").read_text())["gate"]
    assert (gate["passed"], gate["judged"], list(gate["unjudged"])) == (False, [], ["new"])


def test_a_baseline_that_lacks_rows_is_no_measure(stakes, write):
    write(new=names(write.fraud), old=np.where(np.arange(N) < 9, "", names(write.fraud)))
    said = stakes("-q", *GATE, "--drop-missing", "--candidate", "new")
    assert said.code == 2
    assert "could not judge 'old': it lacks a value in 9 of 240 rows" in said.err


def test_rows_without_a_class_are_no_models_fault(stakes, write):
    actual = np.where(np.arange(N) < 9, "", names(write.fraud))
    write(new=names(write.fraud), actual=actual)
    assert stakes("-q", *GATE, "--drop-missing").code == 0
