"""Write the small evaluation logs of the tests, by running the logging tools with mock models.

    python tools/evaluation_logs.py inspect FOLDER     # in an environment with inspect_ai
    python tools/evaluation_logs.py lm_eval FOLDER     # in an environment with lm_eval
    python tools/evaluation_logs.py promptfoo FOLDER   # with promptfoo's command in the path

The tests do not install these tools; the logs are in ``tests/fixtures/logs``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

LABELS = ["safe", "unsafe"]
THIRD, MISSED, ALARM = 3, 3, 4
ACTUAL = [LABELS[at % THIRD == 0] for at in range(12)]
ANSWERS = {
    "prompt_a": [LABELS[at % THIRD == 0 and at != MISSED] for at in range(12)],
    "prompt_b": [" Unsafe.\n" if at % THIRD == 0 or at == ALARM else "safe" for at in range(12)],
}
EPOCHS = 2


def inspect(folder: Path) -> None:
    """Evaluate two guardrail prompts, each sample twice."""
    import tiktoken

    class Words:
        """Encoding that counts words instead of tokens, whose table would need a download."""

        def encode(self, text: str, **_: object) -> list[int]:
            """Return a number for each word."""
            return list(range(len(text.split())))

    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda *_: Words()
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import match

    for name, answers in ANSWERS.items():
        samples = [
            Sample(id=f"s{at}", input=f"Is message {at} safe?", target=label)
            for at, label in enumerate(ACTUAL)
        ]
        outputs = [ModelOutput.from_content("mockllm/model", answer) for answer in answers]
        for form, some, epochs in (("eval", len(samples), EPOCHS), ("json", 3, 1)):
            logs = evaluate(
                Task(name=name, dataset=samples[:some], scorer=match()),
                model=get_model("mockllm/model", custom_outputs=outputs[:some] * epochs),
                epochs=epochs,
                max_samples=1,
                max_connections=1,
                log_dir=str(folder / "raw"),
                log_format=form,
                display="none",
            )
            shutil.copy(logs[0].location, folder / f"inspect_{name}.{form}")
    shutil.rmtree(folder / "raw")


def lm_eval(folder: Path) -> None:
    """Evaluate a task of two choices and a task of generated answers with a dummy model."""
    work = folder / "raw"
    work.mkdir(parents=True)
    rows = [
        {"text": f"message {at}", "label": LABELS.index(each)} for at, each in enumerate(ACTUAL)
    ]
    (work / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    common: dict[str, Any] = {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(work / "data.jsonl")}},
        "test_split": "test",
        "doc_to_text": "{{text}} is",
    }
    choice = {
        **common,
        "task": "guard_choice",
        "output_type": "multiple_choice",
        "doc_to_choice": LABELS,
        "doc_to_target": "label",
        "metric_list": [{"metric": "acc"}],
    }
    text = {
        **common,
        "task": "guard_text",
        "output_type": "generate_until",
        "doc_to_target": "{{['safe', 'unsafe'][label]}}",
        "generation_kwargs": {"until": ["\n"]},
        "metric_list": [{"metric": "exact_match"}],
    }
    for each in (choice, text):
        (work / f"{each['task']}.yaml").write_text(json.dumps(each))
    subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "lm_eval", "--model", "dummy", "--tasks", "guard_choice,guard_text",
         "--include_path", str(work), "--output_path", str(work / "out"), "--log_samples"],
        check=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"},
    )  # fmt: skip
    for task in ("guard_choice", "guard_text"):
        (found,) = (work / "out").rglob(f"samples_{task}_*.jsonl")
        text = found.read_text().replace(str(work), "work")
        (folder / f"lm_eval_samples_{task}.jsonl").write_text(text)
    shutil.rmtree(work)


def promptfoo(folder: Path) -> None:
    """Evaluate two prompts with a provider that answers from a table, each test twice."""
    work = folder / "raw"
    work.mkdir(parents=True)
    table = json.dumps({name: [answer.strip() for answer in ANSWERS[name]] for name in ANSWERS})
    (work / "mock.cjs").write_text(
        f"const table = {table};\n"
        "module.exports = class {\n"
        "  id() { return 'mock'; }\n"
        "  async callApi(prompt) {\n"
        "    const [name, at] = prompt.split(' ');\n"
        "    return { output: table[name][Number(at)] };\n"
        "  }\n"
        "};\n"
    )
    config = {
        "prompts": [{"raw": f"{name} {{{{at}}}}", "label": name} for name in ANSWERS],
        "providers": [f"file://{work / 'mock.cjs'}"],
        "tests": [
            {"vars": {"at": str(at)}, "assert": [{"type": "equals", "value": each}]}
            for at, each in enumerate(ACTUAL)
        ],
    }
    (work / "promptfooconfig.json").write_text(json.dumps(config))
    command = str(shutil.which("promptfoo"))
    subprocess.run(  # noqa: S603 - our own command
        [command, "eval", "-c", str(work / "promptfooconfig.json"), "--repeat", str(EPOCHS),
         "--no-cache", "--no-write", "-o", str(folder / "promptfoo.json")],
        check=False,  # tests that fail make it exit with 100
        env={**os.environ, "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1",
             "PROMPTFOO_CONFIG_DIR": str(work / "home")},
    )  # fmt: skip
    text = (folder / "promptfoo.json").read_text()
    text = text.replace(str(work), "work").replace(str(folder), "logs")
    (folder / "promptfoo.json").write_text(text)
    shutil.rmtree(work)


if __name__ == "__main__":
    tool, target = sys.argv[1], Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    {"inspect": inspect, "lm_eval": lm_eval, "promptfoo": promptfoo}[tool](target)
