"""A catalogue of bad input: each error states the problem and its place, and leaves no file."""
# ruff: noqa: E501 - one case per line, as in a table

import contextlib
import gzip
import json
import re
from dataclasses import dataclass, field

import pytest

from stakes.errors import StakesError
from stakes.predictions.count_file import _tally, counts_checksum

ROWS = """id,actual,tree,tree_score,forest,forest_score
a,ok,ok,0.1,ok,0.2
b,fraud,fraud,0.9,ok,0.4
c,ok,fraud,0.6,ok,0.3
d,fraud,fraud,0.8,fraud,0.7
e,ok,ok,0.2,ok,0.1
f,fraud,ok,0.3,fraud,0.6
"""
P, C = "predictions.csv", "costs.csv"
EVALUATE = ["evaluate", P, "-c", C]
AMOUNTS = ["-q", "evaluate", "a.csv", "--fp", "1", "--fn-column", "amt", "--pos-label", "fraud"]
INLINE = ["--fp", "1", "--fn", "5"]
THREE = "predicted\\actual,a,b,c\na,0,1,2\nb,3,0,4\nc,5,6,0\n"


@dataclass(frozen=True)
class Case:
    """A command that must fail, the files it is given, and what it must say."""

    name: str
    arguments: list
    says: str
    files: dict = field(default_factory=dict)
    stdin: bytes = b""


def rows(old, new, count=-1):
    """Return the predictions with something replaced."""
    assert old in ROWS
    return {P: ROWS.replace(old, new, count)}


def amount(cell):
    """Return predictions with a cost in each row, one of which is in this cell."""
    return {"a.csv": f"actual,m,amt\nok,ok,3\nfraud,ok,{cell}\nfraud,fraud,4\n"}


def counts(**changes):
    """Return the text of a count file with some of its parts replaced."""
    content = {
        "schema": "stakes-counts/2",
        "actual": "actual",
        "labels": ["ok", "fraud"],
        "decisions": ["ok", "fraud"],
        "models": [
            {"name": "tree", "decisions": "tree", "scores": "tree_score", "decided_from": None}
        ],
        "joint": {
            "models": ["tree"],
            "actual": [0, 0, 1, 1],
            "decided": [[0, 1, 0, 1]],
            "counts": [2, 1, 1, 2],
        },
        "scores": {
            "models": ["tree"],
            "pos_label": "fraud",
            "neg_label": "ok",
            "thresholds": [[0.9, 0.4, 0.1]],
            "ranks": [[0, 1, 2]],
            "positive": [1, 0, 0],
            "amounts": [3, 1, 2],
        },
    }
    for path, value in changes.items():
        *parents, last = path.split("__")
        part = content
        for each in parents:
            part = part[each]
        if value is None:
            del part[last]
        else:
            part[last] = value
    return with_checksum(json.dumps(content))


def with_checksum(text):
    """Return the text of a count file with its checksum; of what is damaged there is none."""
    content = json.loads(text)
    with contextlib.suppress(StakesError, KeyError, TypeError, ValueError, AttributeError):
        content["checksum"] = counts_checksum(_tally(content))
    return json.dumps(content)


FILES = [
    Case("no such file", ["evaluate", "nope.csv", "-c", C], r"nope\.csv: cannot be read: No such"),
    Case("a folder of other files", ["evaluate", ".", "-c", C], "files of one table must have the same columns"),
    Case("a name with NUL", ["evaluate", "a\0.csv", "-c", C], "cannot hold a NUL character"),
    Case("empty", EVALUATE, rf"stakes: {P}: the file is empty; expected a table", {P: ""}),
    Case("blank lines", EVALUATE, rf"{P}: all lines are empty", {P: "\n \n\n"}),
    Case("header only", EVALUATE, rf"{P}: it has columns \('actual', 'tree'\) but", {P: "actual,tree"}),
    Case(
        "a short row",
        EVALUATE,
        rf"{P}, line 4: expected 6 cells, as in the header, got 5",
        rows("c,ok,fraud,0.6,ok,0.3", "c,ok,fraud,0.6,ok"),
    ),
    Case(
        "a long row",
        EVALUATE,
        rf"{P}, line 3: expected 6 cells, as in the header, got 7.*','.*quotes",
        rows("0.4", "0,4"),
    ),
    Case(
        "an open quote",
        EVALUATE,
        rf"{P}, line 4, column 'id': the quote that opens the cell is not closed",
        rows("c,ok", '"c,ok'),
    ),
    Case(
        "Latin-1",
        EVALUATE,
        rf"{P}, line 3: expected UTF-8 text, got the byte 0xfc",
        {P: ROWS.replace("b,", "bü,").encode("latin-1")},
    ),
    Case("UTF-16", EVALUATE, "expected UTF-8 text", {P: ROWS.encode("utf-16")}),
    Case("a spreadsheet", ["evaluate", "a.ods", "-c", C], r"a\.ods: expected a name ending in \.csv", {"a.ods": "x"}),
    Case("no ending", ["evaluate", "a", "-c", C], "a: expected a name ending in", {"a": ROWS}),
    Case("not Parquet", ["evaluate", "a.parquet", "-c", C], r"a\.parquet: cannot be read as a Parquet", {"a.parquet": ROWS}),
    Case("cut Parquet", ["evaluate", "a.parquet", "-c", C], r"a\.parquet: cannot be read as a Parquet", {"a.parquet": "PAR1"}),
    Case("not Arrow", ["evaluate", "a.feather", "-c", C], r"a\.feather: cannot be read as an? Arrow", {"a.feather": ROWS}),
    Case("not gzip", ["evaluate", "a.csv.gz", "-c", C], r"a\.csv\.gz: cannot be unpacked", {"a.csv.gz": ROWS}),
    Case(
        "cut gzip",
        ["evaluate", "a.csv.gz", "-c", C],
        r"a\.csv\.gz: cannot be unpacked",
        {"a.csv.gz": gzip.compress(ROWS.encode() * 9)[:-12]},
    ),
    Case("a bad JSON line", ["evaluate", "a.jsonl", "-c", C], r"a\.jsonl, line 2, column 12: cannot be read as JSON: Expecting", {"a.jsonl": '{"actual": "ok"}\n{"actual": \n'}),
    Case("a JSON line that is a list", ["evaluate", "a.jsonl", "-c", C], r"a\.jsonl, line 1: expected an object", {"a.jsonl": "[1, 2]\n"}),
    Case("mixed kinds in JSON", ["evaluate", "a.jsonl", "-c", C], r"a\.jsonl, line 2, column 'tree': got a number, but text in line 1", {"a.jsonl": '{"actual": "ok", "tree": "ok"}\n{"actual": "ok", "tree": 1}\n'}),
    Case("JSON that is no count file", ["evaluate", "a.json", "-c", C], r"a\.json: expected a count file.*\.jsonl", {"a.json": '[{"actual": "ok"}]'}),
    Case("the same column twice", EVALUATE, rf"{P}: the column 'tree' occurs 2 times", rows("forest,", "tree,", 1)),
    Case("nothing on standard input", ["evaluate", "-", "-c", C], "standard input: .* empty"),
    Case("standard input twice", ["evaluate", "-", "-", "--id", "id", "-c", C], "Give - once", stdin=ROWS.encode()),
]  # fmt: skip

COLUMNS = [
    Case("no column of actual classes", EVALUATE, rf"{P}: which column has the actual classes\?.*--actual; there are 'id', 'x'", rows("actual", "x")),
    Case("a misspelt actual", [*EVALUATE, "--actual", "acutal"], rf"{P}: there is no column 'acutal'; there are 'id', .*Did you mean 'actual'\?"),
    Case("a misspelt actual, inline costs", ["evaluate", P, *INLINE, "--actual", "acutal"], "no column 'acutal'.*Did you mean 'actual'"),
    Case("probabilities of several classes only", ["evaluate", "a.csv", "-c", C], r"a\.csv: no column has decisions, and 'prob_a', 'prob_b' look like scores of classes.*--model", {C: THREE, "a.csv": "actual,prob_a,prob_b,other\na,0.1,0.2,0.7\nb,0.1,0.2,0.7\n"}),
    Case("probabilities that do not add up", ["evaluate", "a.csv", "-c", C], r"a\.csv, the probabilities of 'model': expected numbers from 0 to 1 whose sum is 1, got 0\.1, 0\.2, 0\.9 in row 2", {C: THREE, "a.csv": "actual,prob_a,prob_b,prob_c\na,0.1,0.2,0.7\nb,0.1,0.2,0.9\n"}),
    Case("an unknown model", [*EVALUATE, "-m", "svm"], rf"{P}: there is no column 'svm'"),
    Case("a misspelt score", [*EVALUATE, "-s", "tree_scor"], "Did you mean 'tree_score'"),
    Case("the actual column as a model", [*EVALUATE, "-m", "actual"], "'actual' has the actual classes, it cannot be a model"),
    Case("decisions as scores", [*EVALUATE, "-m", "tree", "-s", "tree"], "'tree' was named as decisions and as scores"),
    Case("no models", EVALUATE, rf"{P}: no column looks like a model's decisions", {P: "id,actual\na,ok\nb,fraud\n"}),
    Case("a class that the costs lack", EVALUATE, rf"{P}, line 4, column 'actual': 'Ok' is not one of the classes of the costs, 'ok', 'fraud'", rows("c,ok", "c,Ok")),
    Case("a class that the costs lack, often", EVALUATE, r"line 2, column 'actual': 'new' is not .*\. 2 more rows are like it\.", rows(",ok,", ",new,", 9)),
    Case("a decision that the costs lack", [*EVALUATE, "-m", "tree"], rf"{P}, line 3, column 'tree': 'abstain' is not one of the decisions", rows("fraud,fraud,0.9", "fraud,abstain,0.9")),
    Case("a missing class", EVALUATE, rf"{P}, line 6, column 'actual': there is no label", rows("e,ok", "e,")),
    Case("a missing decision", [*EVALUATE, "-m", "tree"], rf"{P}, line 6, column 'tree': there is no label", rows("e,ok,ok", "e,ok, ")),
    Case("mixed types", ["evaluate", P, *INLINE], "for two classes, there are 3: '0', 'fraud', 'ok'", rows("a,ok", "a,0")),
    Case("a score that is text", [*EVALUATE, "-s", "tree_score"], rf"{P}, line 4, column 'tree_score': 'high' is not a number", rows("0.6,ok", "high,ok")),
    Case("a score that is NaN", [*EVALUATE, "-s", "tree_score"], r"line 4, column 'tree_score': 'nan' is not a number", rows("0.6,ok", "nan,ok")),
    Case("a decimal comma", [*EVALUATE, "-s", "tree_score"], r"line 2, column 'tree_score': '1,\d00' .*not clear whether for decimals or thousands", {P: re.sub(r"0\.(\d)", r"1,\g<1>00", ROWS.replace(",", ";"))}),
    Case("a missing score", [*EVALUATE, "-s", "tree_score"], r"line 4, column 'tree_score': there is no score", rows("0.6,ok", ",ok")),
    Case("an infinite score", [*EVALUATE, "-s", "tree_score"], r"no model can be judged \(tree: there are only 3 rows of the class 'fraud' .* not probabilities\)", rows("0.6,ok", "inf,ok")),
    Case("scores that are no probabilities", [*EVALUATE, "-s", "tree_score"], r"no model can be judged \(tree: .* not probabilities\)\. Give more rows, decisions, or a threshold, such as tree@0\.31", rows("0.6,ok", "-6,ok")),
    Case("a column of lists", ["evaluate", "a.jsonl", "-c", C, "-m", "tree"], r"a\.jsonl, column 'tree': expected one value per row, got list", {"a.jsonl": '{"actual": "ok", "tree": ["ok"]}\n'}),
    Case("no class in a JSON line", ["evaluate", "a.jsonl", "-c", C], r"a\.jsonl, line 2, column 'actual': there is no label", {"a.jsonl": '{"actual": "ok", "tree": "ok"}\n{"tree": "ok"}\n'}),
    Case("10⁵ classes", ["evaluate", P, *INLINE, "--actual", "id"], rf"{P}, column 'id': 100,000 different values are too many", {P: "id,tree\n" + "".join(f"{i},{i}\n" for i in range(10**5))}),
    Case("10⁵ decisions", [*EVALUATE, "-m", "id"], "column 'id': 100,000 different values .* identifiers", {P: "id,actual\n" + "".join(f"{i},ok\n" for i in range(10**5))}),
    Case("10⁵ classes in a template", ["costs", "template", P, "--out", "new.csv"], "100,000 different values", {P: "id,actual\n" + "".join(f"{i},{i}\n" for i in range(10**5))}),
]  # fmt: skip

COSTS = [
    Case("no cost file", ["evaluate", P, "-c", "nope.csv"], r"nope\.csv: cannot be read: No such"),
    Case("empty costs", EVALUATE, rf"{C}: the file is empty", {C: ""}),
    Case("costs without orientation", EVALUATE, rf"{C}, line 1, column 1: it does not state.* --rows predicted or --rows actual", {C: ",ok,fraud\nok,0,9\nfraud,1,0\n"}),
    Case("a cost that is text", EVALUATE, rf"{C}, line 2, column 3: expected a finite number.*'much'", {C: "predicted\\actual,ok,fraud\nok,0,much\nfraud,1,0\n"}),
    Case("a cost not filled in", EVALUATE, rf"{C}, line 3, column 2: expected a finite number.*''", {C: "predicted\\actual,ok,fraud\nok,0,1\nfraud,,0\n"}),
    Case("an infinite cost", EVALUATE, rf"{C}, line 2, column 3: .*'inf'", {C: "predicted\\actual,ok,fraud\nok,0,inf\nfraud,1,0\n"}),
    Case("a row of costs too short", EVALUATE, rf"{C}, line 3, column 3: expected 2 costs", {C: "predicted\\actual,ok,fraud\nok,0,1\nfraud,1\n"}),
    Case("a misspelt class in the costs", EVALUATE, rf"{P}, line 3, column 'actual': 'fraud' is not one of the classes .* Did you mean 'frod'", {C: "predicted\\actual,ok,frod\nok,0,1\nfraud,1,0\n"}),
    Case("costs that are not JSON", ["evaluate", P, "-c", "c.json"], r"c\.json, line 1, column 2: not JSON", {"c.json": "{"}),
    Case("JSON without costs", ["evaluate", P, "-c", "c.json"], r"c\.json: expected an object such as", {"c.json": "{}"}),
    Case("a Weka file without labels", ["evaluate", P, "-c", "c.cost"], r"c\.cost: Weka's files have no labels.*--classes", {"c.cost": "2 2\n0 1\n5 0\n"}),
    Case("a Weka file of another size", ["evaluate", P, "-c", "c.cost", "--classes", "a,b,c"], r"c\.cost, line 1: expected the numbers of rows", {"c.cost": "2 2\n0 1\n5 0\n"}),
    Case("a Weka expression", ["evaluate", P, "-c", "c.cost", "--classes", "ok,fraud"], r"c\.cost, line 2, column 2: .*expressions", {"c.cost": "2 2\n0 a1*2\n5 0\n"}),
    Case("labels of other classes", [*EVALUATE, "--classes", "ok,bad"], rf"{C}.*'fraud'"),
    Case("costs of an unknown kind", ["evaluate", P, "-c", "c.txt"], r"c\.txt: expected a name ending in \.csv", {"c.txt": "x"}),
    Case("rows against the corner", [*EVALUATE, "--rows", "actual"], rf"{C}, line 1, column 1: its rows are predicted, got --rows actual\. Leave out --rows"),
    Case("rows of nonsense", [*EVALUATE, "--rows", "columns"], r"--rows: .*--rows predicted or --rows actual .*'columns'"),
    Case("rows without a matrix", ["evaluate", P, *INLINE, "--rows", "actual"], "--rows: it applies to a cost matrix"),
    Case("costs and --fp", [*EVALUATE, "--fp", "3"], "--costs, --fp, --fn: .* not both"),
    Case("only --fp", ["evaluate", P, "--fp", "3"], "--fn: give both costs"),
    Case("only --fn", ["evaluate", P, "--fn", "3"], "--fp: give both costs"),
    Case("no costs", ["evaluate", P], "costs are missing"),
    Case("--fp that is text", ["evaluate", P, "--fp", "x", "--fn", "1"], "--fp: expected a number, got 'x'"),
    Case("--fp that is infinite", ["evaluate", P, "--fp", "inf", "--fn", "1", "--pos-label", "ok"], "--fp: expected finite"),
    Case("--fp and --fn of three classes", ["evaluate", "a.csv", *INLINE], r"a\.csv, column 'actual': .* there are 3: 'a', 'b', 'c'", {"a.csv": "actual,m\na,a\nb,b\nc,a\n"}),
    Case("--fp and --fn of one class", ["evaluate", "a.csv", *INLINE], "there is 1: 'a'. Give a cost matrix", {"a.csv": "actual,m\na,a\na,a\n"}),
    Case("no positive class", ["evaluate", P, *INLINE], rf"{P}, column 'actual': which class is the positive one.*--pos-label"),
    Case("an unknown positive class", ["evaluate", P, *INLINE, "--pos-label", "theft"], "--pos-label: expected one of 'fraud', 'ok', got 'theft'"),
    Case("a positive class of three", ["evaluate", "a.csv", "-c", C, "--pos-label", "a"], "--pos-label: a positive class needs two classes", {C: THREE, "a.csv": "actual,m\na,a\nb,b\nc,a\n"}),
    Case("scores alone of three classes", ["evaluate", "a.csv", "-c", C], r"a\.csv, column 'm_score': scores alone .* two", {C: THREE, "a.csv": "actual,m_score\na,0.1\nb,0.2\n"}),
    Case("checking costs without orientation", ["costs", "check", C], rf"{C}, line 1, column 1: .*--rows", {C: ",ok,fraud\nok,0,9\nfraud,1,0\n"}),
    Case("checking predictions", ["costs", "check", P], rf"{P}, line 1, column 1"),
]  # fmt: skip

OPTIONS = [
    Case("an unknown option", [*EVALUATE, "--volum", "3"], "No such option: --volum.*Try 'stakes evaluate --help'"),
    Case("an unknown command", ["evaluat", P], "No such command 'evaluat'.*Try 'stakes --help'"),
    Case("no predictions", ["evaluate", "-c", C], "Missing argument 'PREDICTIONS"),
    Case("a missing decision beside scores", EVALUATE, rf"{P}, line 3, column 'tree': there is no label\. Correct it. .* with --model\.", rows("b,fraud,fraud,", "b,fraud,,")),
    Case("a misspelt decision", EVALUATE, rf"{P}, line 3, column 'tree': 'frod' is not one of the decisions of the costs, 'ok', 'fraud'\. Did you mean 'fraud'\? Correct it. .* with --model\.", rows("b,fraud,fraud,", "b,fraud,frod,")),
    Case("a misspelt decision at the gate", ["compare", P, "-c", C, "--baseline", "forest", "--gate"], rf"{P}, line 3, column 'tree': 'frod'", rows("b,fraud,fraud,", "b,fraud,frod,")),
    Case("a missing decision without scores", ["compare", P, "-c", C, "--baseline", "b", "--gate"], rf"{P}, line 4, column 'a': there is no label", {P: "actual,a,b\nok,ok,fraud\nfraud,fraud,ok\nok,,ok\n"}),
    Case("a number that is no class, beside scores", ["evaluate", P, *INLINE], rf"{P}, line 3, column 'a': '2' is not one of the decisions", {P: "actual,a,a_score\n0,0,0.1\n1,2,0.8\n1,1,0.9\n"}),
    Case("a missing score of a model", ["threshold", P, "-c", C], rf"{P}, line 3, column 'tree_score': there is no score\. Write a number there, or take the column out", rows("b,fraud,fraud,0.9", "b,fraud,fraud,")),
    Case("a missing score of a named model", ["curve", P, "-c", C, "-m", "tree"], rf"{P}, line 3, column 'tree_score': there is no score", rows("b,fraud,fraud,0.9", "b,fraud,fraud,")),
    Case("a missing score that decides", EVALUATE, rf"{P}, line 4, column 'tree_score': there is no score", {P: "actual,tree_score,b,c\nok,0.1,ok,ok\nfraud,0.9,fraud,ok\nok,,ok,ok\n"}),
    Case("a model without a name", ["evaluate", P, "-c", C], rf"{P}: column 3 has no name, .* --model", rows("tree,tree_score", ",tree_score")),
    Case("a name for examples that is not there", [*EVALUATE, "--id", "idd"], rf"{P}: there is no column 'idd'; .* Did you mean 'id'"),
    Case("a seed below zero", ["evaluate", P, "-c", C, "--seed", "-1"], "--seed: expected a whole number from 0 on, got -1"),
    Case("cut gzip on standard input", ["evaluate", "-", "-c", C], "standard input: cannot be unpacked: .* Was it cut short", stdin=gzip.compress(ROWS.encode())[:-9]),
    Case("no output", ["count", P, "-c", C], "Missing option '--out'"),
    Case("an option without its value", ["evaluate", P, "-c"], "'-c'"),
    Case("an unknown method", [*EVALUATE, "--method", "magic"], "--method: expected one of .*'magic'"),
    Case("a confidence of 95", [*EVALUATE, "--confidence", "95"], r"--confidence: expected a number between 0 and 1, such as 0\.95; got 95"),
    Case("a confidence that is text", [*EVALUATE, "--confidence", "high"], "--confidence: expected a number, got 'high'"),
    Case("a negative volume", [*EVALUATE, "--volume", "-5"], "--volume: expected a positive number of decisions, got -5"),
    Case("a volume of nothing", [*EVALUATE, "--volume", "0"], "--volume: .*got 0"),
    Case("an infinite volume", [*EVALUATE, "--volume", "inf"], "--volume: .*got inf"),
    Case("a time without a volume", [*EVALUATE, "--per", "year"], "--per: .* give both"),
    Case("priors that miss a class", ["evaluate", "a.csv", "-c", C, "--class-priors", "a=0.5,b=0.5"], "--class-priors: .*misses 'c'", {C: THREE, "a.csv": "actual,m\na,a\nb,b\nc,c\n"}),
    Case("a prior of one class above 1", [*EVALUATE, "--class-priors", "ok=1.5"], r"--class-priors: expected a share from 0 to 1, got 1\.5"),
    Case("priors of an unknown class", [*EVALUATE, "--class-priors", "ok=0.9,theft=0.1"], "--class-priors: expected one of 'ok', 'fraud', got 'theft'"),
    Case("priors that sum to 1.1", [*EVALUATE, "--class-priors", "ok=0.9,fraud=0.2"], r"--class-priors: .*sum to 1\.1"),
    Case("priors without shares", [*EVALUATE, "--class-priors", "0.9,0.1"], r"--class-priors: .*got '0\.9'"),
    Case("priors twice", [*EVALUATE, "--class-priors", "ok=0.9,ok=0.1"], "--class-priors: the class 'ok' occurs twice"),
    Case("priors of a class that is not there", ["evaluate", "a.csv", "-c", C, "--class-priors", "ok=0.9,fraud=0.1"], "'fraud' has a prior of 0.1 but no examples", {"a.csv": "actual,m\nok,ok\nok,fraud\n"}),
    Case("a gate without another model", ["compare", P, "-c", C, "-m", "tree", "--baseline", "tree", "--gate"], "--baseline: there is no model to compare with 'tree'"),
    Case("a candidate that is the baseline", ["compare", P, "-c", C, "--baseline", "tree", "--candidate", "tree", "--gate"], "--candidate: .*'tree' is the baseline"),
    Case("an unknown candidate", ["compare", P, "-c", C, "--baseline", "tree", "--candidate", "svm"], "--candidate: there is no policy 'svm'; there are 'tree', "),
    Case("a candidate that cannot be read", ["compare", P, "-c", C, "--baseline", "tree", "--candidate", "new"], "--candidate: the column 'new' cannot be used: it has 'FRAUD', 'OK'; the decisions of the costs are 'ok', 'fraud'", {P: "actual,tree,new\nok,ok,FRAUD\nfraud,ok,OK\nok,fraud,OK\n"}),
    Case("a threshold of a model without scores", ["evaluate", P, "-c", C, "--candidate", "tree@0.3"], "--candidate: 'tree@0.3': the model 'tree' has no scores", rows("_score", "_id")),
    Case("a threshold of one model without scores", ["compare", P, "-c", C, "--baseline", "forest@0.3"], "--baseline: 'forest@0.3': the model 'forest' has no scores", rows("forest_score", "forest_id")),
    Case("the best threshold of a model without scores", ["evaluate", P, "-c", C, "--baseline", "tree@best"], "--baseline: 'tree@best': the model 'tree' has no scores", rows("_score", "_id")),
    Case("a threshold that is not a number", ["evaluate", P, "-c", C, "--candidate", "tree@nan"], "--candidate: expected a threshold after @, such as tree@0.31, or tree@best; got 'nan'"),
    Case("a threshold that is infinite", ["evaluate", P, "-c", C, "--candidate", "tree@inf"], "--candidate: expected a threshold after @.* got 'inf'"),
    Case("a recall of policies above 1", [*EVALUATE, "--min-recall", "1.5"], r"--min-recall: expected a rate from 0 to 1, got 1\.5"),
    Case("a negative false positive rate of policies", [*EVALUATE, "--max-fpr", "-0.1"], r"--max-fpr: expected a rate from 0 to 1, got -0\.1"),
    Case("a negative capacity of policies", [*EVALUATE, "--capacity", "-1"], "--capacity: expected a number of decisions, 0 or more; got -1"),
    Case("a capacity of policies that is a share", [*EVALUATE, "--capacity", "0.1"], "--capacity: .*not a share of them; got 0.1"),
    Case("a capacity of policies that is no number", [*EVALUATE, "--capacity", "nan"], "--capacity: .*got nan"),
    Case("limits of policies that nothing keeps", [*EVALUATE, "--min-recall", "1", "--max-fpr", "0"], "--max-fpr, --min-recall: no threshold has a false positive rate of at most 0% and a recall of at least 100%", {P: "actual,m_score\n" + "".join(f"{'fraud' if i % 2 else 'ok'},0.{i % 5}\n" for i in range(40))}),
    Case("validation for decisions alone", ["evaluate", "d.csv", "-c", C, "--validation", P], r"--validation: no thresholds are chosen, because d\.csv has no scores", {"d.csv": "actual,tree\nok,ok\nfraud,ok\n"}),
    Case("a validation file without scores", [*EVALUATE, "--validation", "v.csv"], r"--validation: v\.csv has no scores", {"v.csv": "actual,tree\nok,ok\nfraud,ok\n"}),
    Case("an unknown baseline", ["compare", P, "-c", C, "--baseline", "svm"], "--baseline: there is no policy 'svm'; there are 'tree', .*'forest', .*'always ok'"),
    Case("a gate without a baseline", ["compare", P, "-c", C, "--gate"], "--gate: .*--baseline"),
    Case("a margin without a baseline", ["compare", P, "-c", C, "--margin", "1"], "--margin: .*--baseline"),
    Case("a margin that is no number, before anything is read", ["compare", "nope.csv", "-c", C, "--baseline", "tree", "--margin", "nan"], "--margin: expected how much more a model may cost, got nan"),
    Case("a negative margin", ["compare", P, "-c", C, "--baseline", "tree", "--margin", "-1"], "--margin: .*got -1"),
    Case("a threshold for nothing", ["threshold", P], "costs or a limit must be given"),
    Case("a rate above 1", ["threshold", P, "-c", C, "--max-fpr", "5"], "--max-fpr: expected a rate from 0 to 1, got 5"),
    Case("a recall that is text", ["threshold", P, "-c", C, "--min-recall", "all"], "--min-recall: expected a number, got 'all'"),
    Case("assurance of nothing", ["threshold", P, "-c", C, "--assurance", "0.9"], "--assurance: .*--max-fpr"),
    Case("assurance of 90", ["threshold", P, "-c", C, "--max-fpr", "0.5", "--assurance", "90"], "--assurance: .*got 90"),
    Case("a negative capacity", ["threshold", P, "-c", C, "--capacity", "-1"], "--capacity: .*got -1"),
    Case("a capacity that is a share", ["threshold", P, "-c", C, "--capacity", "0.1"], "--capacity: .*not a share"),
    Case("a period without decisions", ["compare", P, "-c", C, "--per", "year"], "--per: .*--volume"),
    Case("a volume for no capacity", ["threshold", P, "-c", C, "--volume", "9"], "--volume: .*capacity"),
    Case("limits that nothing keeps", ["threshold", P, "-c", C, "--max-fpr", "0", "--min-recall", "1"], "--max-fpr, --min-recall: no policy has .*Loosen"),
    Case("a threshold without scores", ["threshold", P, "-c", C], rf"{P}: no model has scores.*--score", rows("_score", "_id")),
    Case("a threshold of three classes", ["threshold", "a.csv", "-c", C], "--costs: a threshold needs two classes.*3 classes", {C: THREE, "a.csv": "actual,m,m_score\na,a,1\nb,b,2\n"}),
    Case("a threshold of one class", ["threshold", "a.csv", "-c", C], r"a\.csv, column 'actual': all 2 examples are of the class 'ok'", {"a.csv": "actual,m,m_score\nok,ok,1\nok,ok,2\n"}),
    Case("no such validation file", ["threshold", P, "-c", C, "--validation", "v.csv"], r"v\.csv: cannot be read"),
    Case("a validation file without a model", ["threshold", P, "-c", C, "--validation", "v.csv"], "--validation: there are no scores of the model 'forest', only of: 'tree'", {"v.csv": "actual,tree,tree_score\nok,ok,0\nfraud,ok,1\n"}),
    Case("a prevalence above 1", ["curve", P, "-c", C, "--prevalence", "2"], "--prevalence: expected the share of positives"),
    Case("a curve of mistakes that cost nothing", ["curve", P, "-c", C, "--pos-label", "fraud"], "stakes: --costs: the mistakes that can happen at this prevalence cost nothing", {C: "predicted\\actual,ok,fraud\nok,0,0\nfraud,0,0\n"}),
    Case("a curve of inline mistakes that cost nothing", ["curve", P, "--fp", "0", "--fn", "0", "--pos-label", "fraud"], "stakes: --fp, --fn: the mistakes that can happen at this prevalence cost nothing"),
    Case("a curve of costs too large", ["curve", P, "--fp", "1e308", "--fn", "1", "--pos-label", "fraud"], r"stakes: --fp: expected costs of at most 1e\+100, got 1e\+308"),
    Case("inline costs too large", ["evaluate", P, "--fp", "1e308", "--fn", "1", "--pos-label", "fraud"], r"stakes: --fp, --fn: expected costs of at most 1e\+100, got 1e\+308"),
    Case("a picture of an unknown kind", ["curve", P, "-c", C, "--out", "a.gif"], r"a\.gif: expected a name ending in \.png, \.svg or \.pdf"),
    Case("curves of three classes", ["curve", "a.csv", "-c", C], "--costs: cost curves need two classes", {C: THREE, "a.csv": "actual,m\na,a\nb,b\n"}),
    Case("curves of one class", ["curve", "a.csv", "-c", C], "all 2 examples are of the class 'ok'", {"a.csv": "actual,m,m_score\nok,ok,1\nok,ok,2\n"}),
    Case("curves of one class that weighs", ["curve", "a.csv", "-c", C, "--weight", "w"], "all examples whose weight is not zero are of the class 'ok'", {"a.csv": "actual,m,m_score,w\nok,ok,1,1\nfraud,ok,2,0\n"}),
    Case("a population too large", [*EVALUATE, "--population", "1e308"], r"--population: expected numbers of at most 1e\+100, got 1e\+308\. Without --population"),
    Case("weights that are almost zero", ["evaluate", "a.csv", "-c", C, "--weight", "w"], "--weight: weights this small cannot be squared", {"a.csv": "actual,m,w\nok,ok,1e-320\nfraud,ok,1e-200\n"}),
    Case("a cost of a row beyond all numbers", AMOUNTS, r"^stakes: a\.csv, column 'amt': expected costs of at most 1e\+100, got 1e\+308 in row 2\. Use a larger unit\.$", amount("1e308")),
    Case("a cost of a row without end", AMOUNTS, r"^stakes: a\.csv, column 'amt': expected finite costs of 0 or more, got inf in row 2", amount("inf")),
    Case("a cost with an underscore", AMOUNTS, r"a\.csv, line 3, column 'amt': '1_0' is not a number; expected digits from 0 to 9", amount("1_0")),
    Case("a cost in full-width digits", AMOUNTS, r"a\.csv, line 3, column 'amt': '\uff11' is not a number; expected digits from 0 to 9", amount("\uff11")),
    Case("a cost in Arabic digits", AMOUNTS, r"a\.csv, line 3, column 'amt': '\u0661' is not a number; expected digits from 0 to 9", amount("\u0661")),
    Case("almost no weights and costs of rows", ["evaluate", "a.csv", "--fp", "1", "--fn-column", "amt", "--pos-label", "fraud", "--weight", "w"], "--weight: weights this small cannot be squared", {"a.csv": "actual,m,w,amt\nok,ok,1e-320,3\nfraud,ok,1e-320,4\n"}),
    Case("curves where mistakes pay", ["curve", P, "-c", C, "--pos-label", "fraud"], "--costs: a cost curve is for mistakes .* a false alarm costs 1 more, and a miss -9", {C: "predicted\\actual,ok,fraud\nok,0,-9\nfraud,1,0\n"}),
    Case("a plan for nothing", ["plan", "-c", C], "a target is missing.*Give --half-width.*or --difference.*or --power"),
    Case("a plan for both", ["plan", "-c", C, "--half-width", "1", "--difference", "1"], "--half-width: it is for one model"),
    Case("a negative half-width", ["plan", "-c", C, "--half-width", "-1"], "--half-width: expected a positive number"),
    Case("a power above 1", ["plan", "-c", C, "--difference", "1", "--power", "80"], "--power: expected a number between 0 and 1"),
    Case("a power of an interval", ["plan", "-c", C, "--half-width", "1", "--power", "0.8"], "--half-width: .*--power are for two"),
    Case("a power without a pilot", ["plan", "-c", C, "--power", "0.8"], "--power: .* their pilot or rates are needed"),
    Case("an assurance of a comparison", ["plan", "-c", C, "--difference", "1", "--assurance", "0.8"], "--assurance: it is for --half-width"),
    Case("an assurance above 1", ["plan", P, "-c", C, "--half-width", "1", "--assurance", "80"], "--assurance: expected a number between 0 and 1"),
    Case("a difference that cannot be", ["plan", "-c", C, "--difference", "500"], "--difference: two models cannot differ by more than 100"),
    Case("a difference too small to show", ["plan", P, "-c", C, "--difference", "1e-5"], "--difference: 1e-05 is too small: .* more than 1,000,000,000 test examples .*larger difference", rows("_score", "_id")),
    Case("a half-width too small to reach", ["plan", "-c", C, "--half-width", "1e-5"], "--half-width: 1e-05 is too small: .*Ask for a wider interval"),
    Case("a difference of one model", ["plan", P, "-c", C, "-m", "tree", "--difference", "1"], rf"{P}: a difference is between two models", rows("_score", "_id")),
    Case("a plan without costs", ["plan", "--half-width", "1"], "costs are missing"),
]  # fmt: skip

B = "id,svm\na,ok\nb,ok\nc,ok\nd,ok\ne,ok\nf,fraud\n"
JOIN = ["evaluate", P, "b.csv", "-c", C, "--id", "id"]
JOINS = [
    Case("several files without an id", ["evaluate", P, "b.csv", "-c", C], "--id: several files", {"b.csv": B}),
    Case("a file without the id", JOIN, r"b\.csv: there is no column 'id' to join on; there are 'key', 'svm'", {"b.csv": B.replace("id", "key")}),
    Case("the same id twice", JOIN, r"b\.csv, column 'id': 'a' occurs 2 times", {"b.csv": B.replace("b,", "a,")}),
    Case("an example that one file lacks", JOIN, rf"b\.csv, column 'id': there is no 'c', which {P} has", {"b.csv": B.replace("c,ok\n", "")}),
    Case("an example that one file has alone", JOIN, rf"{P}, column 'id': there is no 'g' and 1 more, which b\.csv has", {"b.csv": B + "g,ok\nh,ok\n"}),
    Case("files that disagree", JOIN, rf"{P} and b\.csv, column 'actual': for the id 'f' one has 'fraud', the other 'ok'", {"b.csv": B.replace("svm", "svm,actual").replace("ok", "ok,ok").replace("b,ok,ok", "b,ok,fraud").replace("d,ok,ok", "d,ok,fraud").replace("f,fraud", "f,fraud,ok")}),
    Case("a bad label in a joined file", [*JOIN, "-m", "svm"], rf"{P} \+ b\.csv, id 'd', column 'svm': 'maybe' is not one of the decisions", {"b.csv": B.replace("d,ok", "d,maybe")}),
    Case("examples with blank names", JOIN, rf"{P}, line 2, column 'id': the id is missing", {P: ROWS.replace("a,ok,ok", " ,ok,ok"), "b.csv": B.replace("a,", " ,")}),
    Case("an example whose name is no number", ["evaluate", "a.jsonl", "b.jsonl", "-c", C, "--id", "id"], r"a\.jsonl, line 2, column 'id': the id is missing", dict.fromkeys(("a.jsonl", "b.jsonl"), '{"id": 1, "actual": "ok", "m": "ok"}\n{"id": null, "actual": "ok", "m": "ok"}\n')),
    Case("an example without a name", ["evaluate", P, "a.jsonl", "-c", C, "--id", "id"], r"a\.jsonl, line 1, column 'id': the id is missing", {"a.jsonl": '{"id": null, "svm": "ok"}\n{"id": "b", "svm": "ok"}\n'}),
]  # fmt: skip

MERGE = ["merge", "a.json", "b.json", "--out", "all.json"]
COUNTS = [
    Case("a cut count file", ["evaluate", "a.json", "-c", C], r"a\.json, line 1, column \d+: not a count file.*Was it cut short", {"a.json": counts()[:-30]}),
    Case("another schema", ["evaluate", "a.json", "-c", C], r"a\.json: .*'stakes-counts/2'; its schema is 'stakes-counts/9'", {"a.json": counts(schema="stakes-counts/9")}),
    Case("a part missing", ["evaluate", "a.json", "-c", C], r"a\.json: the count file has no 'labels'", {"a.json": counts(labels=None)}),
    Case("counts below zero", ["evaluate", "a.json", "-c", C], r"a\.json: the count file is damaged: counts", {"a.json": counts(joint__counts=[2, 1, -1, 2])}),
    Case("counts that are no numbers", ["evaluate", "a.json", "-c", C], r"a\.json: the count file is damaged: counts: expected whole", {"a.json": counts(joint__counts=[2, 1, 1.5, 2])}),
    Case("counts of nothing", ["evaluate", "a.json", "-c", C], r"a\.json: the count file is damaged: it counts no examples", {"a.json": counts(joint__counts=[0, 0, 0, 0])}),
    Case("counts beyond all numbers", ["evaluate", "a.json", "-c", C], r"a\.json: the count file is damaged: counts: they add up to 13,835,058,055,282,163,712, expected less than 2\*\*63 examples", {"a.json": counts(joint__counts=[1 << 62, 1 << 62, 0, 1 << 62])}),
    Case("a count beyond all numbers", ["evaluate", "a.json", "-c", C], r"damaged: counts: expected whole numbers below 2\*\*63", {"a.json": counts(joint__counts=[1 << 63, 1, 1, 2])}),
    Case("merging beyond all numbers", MERGE, r"a\.json, b\.json: together they count 9,223,372,036,854,775,808 examples, expected less than 2\*\*63", {name: counts(joint__counts=[(1 << 62) - 3, 1, 0, 2], scores__amounts=[(1 << 62) - 3, 1, 2]) for name in ("a.json", "b.json")}),
    Case("rows of different lengths", ["evaluate", "a.json", "-c", C], r"a\.json: the count file is damaged: actual", {"a.json": counts(joint__actual=[0, 1])}),
    Case("a class that there is not", ["evaluate", "a.json", "-c", C], r"damaged: actual: expected numbers from 0", {"a.json": counts(joint__actual=[0, 0, 1, 7])}),
    Case("a rank that there is not", ["evaluate", "a.json", "-c", C], "damaged: ranks", {"a.json": counts(scores__ranks=[[0, 1, 9]])}),
    Case("scores out of order", ["evaluate", "a.json", "-c", C], "damaged: thresholds", {"a.json": counts(scores__thresholds=[[0.1, 0.4, 0.9]])}),
    Case("scores of other examples", ["evaluate", "a.json", "-c", C], "damaged: scores: expected those of all 6", {"a.json": counts(scores__amounts=[3, 1, 9])}),
    Case("counts of a strange model", ["evaluate", "a.json", "-c", C], "damaged: models", {"a.json": counts(joint__models=["svm"])}),
    Case("an empty count file", ["evaluate", "a.json", "-c", C], r"a\.json, line 1, column 1: not a count file", {"a.json": ""}),
    Case("a count file that is not text", ["evaluate", "a.json", "-c", C], r"a\.json: expected UTF-8", {"a.json": b"\xff\xfe"}),
    Case("counts and other costs", ["evaluate", "a.json", "-c", C], r"a\.json: 'fraud' is not one of the classes of the costs, 'ok', 'theft'", {"a.json": counts(), C: "predicted\\actual,ok,theft\nok,0,9\ntheft,1,0\n"}),
    Case("counts and a model", ["evaluate", "a.json", "-c", C, "-m", "tree"], r"--model: a\.json is a count file", {"a.json": counts()}),
    Case("counts and reversed scores", ["compare", "a.json", "-c", C, "--lower-is-positive", "z"], r"--lower-is-positive: a\.json is a count file.*Leave it out", {"a.json": counts()}),
    Case("counts, and labels in any case", ["evaluate", "a.json", "-c", C, "--ignore-case"], r"--ignore-case: a\.json is a count file", {"a.json": counts()}),
    Case("counts, and rows to leave out", ["evaluate", "a.json", "-c", C, "--drop-missing"], r"--drop-missing: a\.json is a count file", {"a.json": counts()}),
    Case("counts and a column of models", ["evaluate", "a.json", "-c", C, "--model-column", "z"], r"--model-column: a\.json is a count file", {"a.json": counts()}),
    Case("counts for another positive class", ["threshold", "a.json", "-c", C, "--pos-label", "ok"], r"--pos-label: the scores in a\.json were counted as those of 'fraud'", {"a.json": counts()}),
    Case("two count files at once", ["evaluate", "a.json", "a.json", "-c", C], r"a\.json: a count file cannot be combined.*Merge several.*'stakes merge'", {"a.json": counts()}),
    Case("a count file as validation without scores", ["threshold", P, "-c", C, "--validation", "a.json", "-s", "tree_score"], "--score: a.json is a count file", {"a.json": counts()}),
    Case("counts without decisions", ["evaluate", "a.json", "-c", C], r"a\.json: the model 'tree' was counted without decisions.*'stakes threshold'", {"a.json": with_checksum(json.dumps(json.loads(counts(joint__models=[], joint__decided=[])) | {"scores": None}))}),
    Case("a header of two lines alone", ["evaluate", "a.csv", *INLINE, "--pos-label", "fraud"], r"a\.csv: it has columns \('actual', 'a\\nb'\) but no rows", {"a.csv": 'actual,"a\nb"'}),
    Case("a blank id in long form", ["evaluate", "a.csv", *INLINE, "--pos-label", "fraud", "--model-column", "model", "--id", "id"], r"a\.csv, model 'a', row 1, column 'id': the id is missing", {"a.csv": "id,model,actual,m\n,a,ok,ok\n1,b,ok,ok\n2,b,fraud,fraud\n2,a,fraud,ok\n"}),
    Case("a template from counts", ["costs", "template", "a.json", "--out", "new.csv"], r"a\.json: a count file has no rows", {"a.json": counts()}),
    Case("merging other classes", MERGE, r"a\.json and b\.json: they have counts of different classes, 'ok', 'fraud' and 'ok', 'theft'", {"a.json": counts(), "b.json": counts(labels=["ok", "theft"])}),
    Case("merging other decisions", MERGE, "counts of different decisions", {"a.json": counts(), "b.json": counts(decisions=["ok", "fraud", "ask"])}),
    Case("merging other models", MERGE, "counts of different models, 'tree' and 'svm'", {"a.json": counts(), "b.json": counts(models=[{"name": "svm", "decisions": "svm", "scores": None, "decided_from": None}], joint__models=["svm"], scores__models=["svm"])}),
    Case("merging with and without scores", MERGE, "a model has decisions or scores in one of them", {"a.json": counts(), "b.json": with_checksum(counts().replace(json.dumps(json.loads(counts())["scores"]), "null"))}),
    Case("merging decisions by other costs", MERGE, "by different costs", {"a.json": counts(), "b.json": with_checksum(counts().replace('"decided_from": null', '"decided_from": 0.5'))}),
    Case("merging a file with itself", ["merge", "a.json", "a.json", "--out", "all.json"], r"a\.json: given twice", {"a.json": counts()}),
    Case("merging a file with itself by another name", ["merge", "a.json", "./a.json", "--out", "all.json"], r"a\.json: given twice", {"a.json": counts()}),
    Case("merging a copy", MERGE, r"b\.json: it has the same counts as a\.json; .* add them with --allow-copies", {"a.json": counts(), "b.json": counts()}),
    Case("merging predictions", ["merge", P, "a.json", "--out", "all.json"], rf"{P}, line 1, column 1: not a count file", {"a.json": counts()}),
    Case("merging a file that is not there", MERGE, r"b\.json: cannot be read", {"a.json": counts()}),
    Case("a count file of another name", ["count", P, "-c", C, "--out", "a.csv"], r"a\.csv: expected a name ending in \.json"),
]  # fmt: skip

OUTPUTS = [
    Case("a folder that is not there", [*EVALUATE, "--json", "no/a.json"], "no/a.json: cannot be written: there is no folder 'no'"),
    Case("a folder in place of a file", [*EVALUATE, "--json", "."], r"\.: cannot be written: it is a folder"),
    Case("an output over an input", [*EVALUATE, "--json", P], rf"{P}: this is an input"),
    Case("an output over the costs", ["count", "a.jsonl", "-c", "c.json", "--out", "c.json"], r"c\.json: this is an input", {"c.json": "{}", "a.jsonl": "{}"}),
    Case("a full disk", [*EVALUATE, "--json", "/dev/full"], "/dev/full: cannot be written: No space left"),
    Case("a picture into no folder", ["curve", P, "-c", C, "--out", "no/a.png"], "no/a.png: cannot be written"),
    Case("a picture on a full disk", ["curve", P, "-c", C, "--csv", "/dev/full"], "/dev/full: cannot be written"),
    Case("a file called as an option", ["evaluate", "costs", "-c", C], r"stakes: costs: expected a name", {"costs": ROWS}),
    Case("an output over a file called as an option", ["evaluate", "costs", "-c", C, "--json", "costs"], r"stakes: costs: this is an input", {"costs": ROWS}),
    Case("counts into no folder", ["count", P, "-c", C, "--out", "no/a.json"], "no/a.json: cannot be written"),
    Case("a merge into no folder", ["merge", "a.json", "b.json", "--out", "no/a.json"], "no/a.json: cannot be written"),
    Case("a template over a file", ["costs", "template", P, "--out", C], rf"{C}: it exists already.*--force"),
    Case("a template over the predictions", ["costs", "template", P, "--out", P, "--force"], rf"{P}: this is an input"),
    Case("a template of an unknown kind", ["costs", "template", P, "--out", "new.json"], r"new\.json: expected a name ending in \.csv or \.tsv"),
    Case("a template without the column", ["costs", "template", P, "--out", "new.csv", "--actual", "x"], rf"{P}: there is no column 'x'"),
    Case("a template without a decision", ["costs", "template", P, "--out", "new.csv", "-m", "tree"], rf"{P}, line 2, column 'tree': there is no label", rows("a,ok,ok", "a,ok,")),
]  # fmt: skip

SIMULATIONS = [
    Case("a test set of no examples", ["simulate", "coverage", P, "-c", C, "--n", "0"], "--n: expected a whole number, 1 or more, got 0"),
    Case("a test set without variance", ["simulate", "coverage", P, "-c", C, "--n", "1"], "--n: test sets of at least two examples are needed for --method normal, got 1"),
    Case("a test without variance", ["simulate", "type-one", P, "-c", C, "--n", "1"], "--n: test sets of at least two examples are needed for --method normal, got 1"),
    Case("no simulated test set", ["simulate", "type-one", P, "-c", C, "--repeats", "0"], "--repeats: expected a whole number, 1 or more, got 0"),
    Case("a size that is text", ["simulate", "power", P, "-c", C, "--n", "many"], "--n: expected a whole number, got 'many'"),
    Case("negative smoothing", ["simulate", "coverage", P, "-c", C, "--smooth", "-1"], "--smooth: expected a number from 0 to 1e.15, got -1"),
    Case("an unknown interval method", ["simulate", "coverage", P, "-c", C, "--method", "wald"], "--method: expected one of .*'bcost'.*got 'wald'"),
    Case("an unknown test", ["simulate", "type-one", P, "-c", C, "--method", "wald"], "--method: expected one of .*'bdeltacost'.*got 'wald'"),
    Case("an unknown null", ["simulate", "type-one", P, "-c", C, "--null", "equal"], "--null: expected one of 'tilted', 'exchanged'; got 'equal'"),
    Case("a simulated test of one model", ["simulate", "power", P, "-c", C, "-m", "tree"], rf"{P}: a test compares two models, and there is only 'tree'", rows("_score", "_id")),
    Case("a difference out of reach", ["simulate", "power", P, "-c", C, "--difference", "1000"], "tree - forest: the outcomes that were observed differ by .* become possible with --smooth, such as --smooth 0.1", rows("_score", "_id")),
    Case("a simulation without costs", ["simulate", "coverage", P], "Give a cost matrix with --costs"),
    Case("simulated confidence of two", ["simulate", "coverage", P, "-c", C, "--confidence", "2"], "--confidence: .*got 2"),
    Case("results of a simulation into no folder", ["simulate", "coverage", P, "-c", C, "--json", "no/a.json"], "no/a.json: cannot be written"),
]  # fmt: skip

CATALOGUE = [*SIMULATIONS, *FILES, *COLUMNS, *COSTS, *OPTIONS, *JOINS, *COUNTS, *OUTPUTS]


def test_the_catalogue_is_long_and_no_case_stands_twice():
    assert len(CATALOGUE) >= 60
    assert len({case.name for case in CATALOGUE}) == len(CATALOGUE)


@pytest.mark.parametrize("case", CATALOGUE, ids=lambda case: case.name)
def test_bad_input_is_named_and_leaves_nothing_behind(case, stakes, folder):
    (folder / P).write_text(ROWS)
    for name, text in case.files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    before = {path: path.read_bytes() for path in folder.rglob("*")}
    said = stakes("-q", *case.arguments, stdin=case.stdin)
    assert said.code == 2
    assert said.out == ""
    assert re.fullmatch(
        r"stakes: .*[^.][.?)]\.?\n(Try: stakes -q .*\n)?", said.err
    )  # and what to type
    assert re.search(case.says, said.err), said.err
    assert "a fault in stakes" not in said.err
    assert {path: path.read_bytes() for path in folder.rglob("*")} == before


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("evaluate predictions.csv --fp 10 --fn 400 --fn 4 --pos-label fraud", "--fn"),
        ("report predictions.csv -c costs.csv --by tree --by old", "--by"),
        ("compare predictions.csv -c costs.csv --costs costs.csv", "--costs"),
    ],
)
def test_a_second_value_is_not_taken_instead_of_the_first(command, option, stakes):
    said = stakes(*command.split())
    assert said.code == 2
    assert f"{option} is given 2 times; give it once." in said.err
