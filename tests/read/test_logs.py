"""Evaluation logs, written by the tools themselves, are read as predictions."""

import json
import shutil
from pathlib import Path

import pytest

from stakes.cli.main import main
from stakes.errors import FileError, StakesError
from stakes.predictions import Columns
from stakes.read.logs import log_kind, read_logs
from stakes.study import study_of_files

LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
COSTS = {"false_positive": 1, "false_negative": 10}
MISSED, ALARM = 3, 4


class Quiet:
    """Is told the progress and does nothing."""

    def expect(self, steps):
        pass

    step = expect

    def reach(self, done, total, text):
        pass


def study(*names, **options):
    paths = [str(LOGS / name) for name in names]
    return study_of_files(paths, COSTS, Columns(), Quiet(), pos_label="unsafe", **options)


EXPECTED = {
    "promptfoo": (["promptfoo.json"], 24, 12),
    "inspect": (["inspect_prompt_a.eval", "inspect_prompt_b.eval"], 24, 12),
}


@pytest.mark.parametrize(("names", "rows", "groups"), EXPECTED.values(), ids=EXPECTED)
def test_two_prompts_are_compared_and_repeats_are_groups(names, rows, groups):
    found = study(*names)
    assert found.n == rows
    assert found.names == ("prompt_a", "prompt_b")
    # prompt_a misses one of four unsafe messages, prompt_b flags one of eight safe ones
    assert found.estimate("prompt_a").cost == pytest.approx(10 / 12)
    assert found.estimate("prompt_b").cost == pytest.approx(1 / 12)
    assert found.roles.design.groups == "sample"
    assert len(found.joint.parts.groups) == groups
    assert "'Unsafe.' is read as 'unsafe'" in " ".join(found.notes)


def test_a_log_of_inspect_in_json():
    found = study("inspect_prompt_a.json")
    assert (found.n, found.names) == (3, ("prompt_a",))
    assert found.roles.design.groups is None


def test_choices_of_lm_eval_have_probabilities():
    rows, repeated = read_logs([str(LOGS / "lm_eval_samples_guard_choice.jsonl")])
    assert repeated is None
    table = rows.table.to_pydict()
    model = "lm_eval_samples_guard_choice"
    assert table["actual"] == ["unsafe" if at % 3 == 0 else "safe" for at in range(12)]
    for safe, unsafe, said in zip(
        table[f"{model}_safe"], table[f"{model}_unsafe"], table[f"{model}_pred"], strict=True
    ):
        assert safe + unsafe == pytest.approx(1)
        assert said == ("safe" if safe >= unsafe else "unsafe")
    found = study("lm_eval_samples_guard_choice.jsonl")
    assert [each.scores for each in found.roles.models] == [f"{model}_unsafe"]


def test_text_of_lm_eval_that_is_no_label_is_refused():
    # the dummy model answers "lol", which is not a class
    with pytest.raises(StakesError, match="named as decisions are, but it has 'lol'"):
        study("lm_eval_samples_guard_text.jsonl")


def test_severity_labels_are_classes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    log = json.loads((LOGS / "promptfoo.json").read_text())
    names = {"safe": "none", "unsafe": "severe", "Unsafe.": "mild"}
    for each in log["results"]["results"]:
        each["testCase"]["assert"][0]["value"] = names[each["testCase"]["assert"][0]["value"]]
        each["response"]["output"] = names[each["response"]["output"]]
    Path("log.json").write_text(json.dumps(log))
    Path("costs.csv").write_text(
        "predicted\\actual,none,mild,severe\nnone,0,5,100\nmild,1,0,50\nsevere,2,1,0\n"
    )
    assert main(["evaluate", "log.json", "--costs", "costs.csv"]) == 0
    assert "prompt_b" in capsys.readouterr().out


def test_what_is_no_log_or_broken_is_said(tmp_path):
    assert log_kind(str(tmp_path / "nothing.json")) is None
    (tmp_path / "list.json").write_text("[1]")
    assert log_kind(str(tmp_path / "list.json")) is None
    (tmp_path / "a.eval").write_bytes(b"no archive")
    with pytest.raises(FileError, match="cannot be read as a log of inspect"):
        read_logs([str(tmp_path / "a.eval")])
    log = json.loads((LOGS / "promptfoo.json").read_text())
    broken = tmp_path / "broken.json"
    log["results"]["results"][0]["testCase"]["assert"] = []
    broken.write_text(json.dumps(log))
    with pytest.raises(FileError, match="states no class"):
        read_logs([str(broken)])
    del log["results"]["results"][0]
    broken.write_text(json.dumps(log))
    with pytest.raises(FileError, match="has no answer to"):
        read_logs([str(broken)])
    shutil.copy(LOGS / "promptfoo.json", tmp_path / "b.json")
    (tmp_path / "rows.csv").write_text("y,pred\n0,0\n")
    with pytest.raises(FileError, match="no evaluation log"):
        read_logs([str(tmp_path / "b.json"), str(tmp_path / "rows.csv")])


def test_deep_nesting_is_refused(tmp_path, capsys):
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    assert main(["evaluate", str(deep)]) == 2
    assert "deep.json: cannot be read as JSON" in capsys.readouterr().err
    samples = tmp_path / "samples_a.jsonl"
    samples.write_text('{"doc_id": 1, "doc": ' + "[" * 100_000)
    assert main(["evaluate", str(samples), "--fp", "1", "--fn", "2"]) == 2
    assert "samples_a.jsonl: cannot be read as a log of lm_eval" in capsys.readouterr().err


def test_an_evaluation_that_failed_is_refused(tmp_path):
    log = json.loads((LOGS / "inspect_prompt_a.json").read_text())
    log["status"] = "error"
    (tmp_path / "log.json").write_text(json.dumps(log))
    with pytest.raises(FileError, match="it is not complete"):
        read_logs([str(tmp_path / "log.json")])
