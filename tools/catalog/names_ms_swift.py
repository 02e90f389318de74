"""Write the names ms-swift 2.x has for models, templates and data sets, beside those of 3.x.

usage: names_ms_swift.py PYTHON_2 PYTHON_3 FOLDER

The Pythons have ms-swift 2.6.1 and 3.2.1; FOLDER (data/catalogs) gets names-ms-swift-2.jsonl.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

OLD = """
import json
from swift.llm import DATASET_MAPPING, MODEL_MAPPING
print("@@" + json.dumps({
    "models": {k: [v.get("model_id_or_path"), v.get("hf_model_id"), v.get("template"),
        v.get("lora_target_modules")] for k, v in MODEL_MAPPING.items()},
    "data": {k: [v.get("dataset_id_or_path"), v.get("hf_dataset_id")]
        for k, v in DATASET_MAPPING.items()}}, default=str))
"""
NEW = """
import json
from swift.llm import MODEL_MAPPING
print("@@" + json.dumps([[k, m.ms_model_id, m.hf_model_id, v.template]
    for k, v in MODEL_MAPPING.items() for g in v.model_groups for m in g.models]))
"""


def main() -> None:
    """Write one line per name: kind, name, ids, and what 3.x calls it."""
    old, new = _ask(sys.argv[1], OLD), _ask(sys.argv[2], NEW)
    known = {i.lower(): row for row in new for i in row[1:3] if i}
    rows: list[dict[str, Any]] = []
    templates: dict[str, set[str]] = {}
    for name, (old_ms, old_hf, template, targets) in sorted(old["models"].items()):
        found = known.get((old_ms or "").lower()) or known.get((old_hf or "").lower())
        # the ids 3.x uses: an owner was renamed since (qwen -> Qwen)
        ms, hf = (found[1] or old_ms, found[2] or old_hf) if found else (old_ms, old_hf)
        row = {"kind": "model", "name": name, "ms": ms, "hf": hf, "template": template}
        if isinstance(targets, list):
            row["targets"] = targets
        if found:
            row |= {"now": found[0], "now_template": found[3]}
            templates.setdefault(template, set()).add(found[3])
        rows.append(row)
    for name, now in sorted(templates.items()):
        if name.endswith(("-generation", "-generation-bos")):
            continue
        same = next((n for n in now if n == name.replace("-", "_")), None)
        if same or len(now) == 1:
            rows.append({"kind": "template", "name": name, "now": same or next(iter(now))})
    types: dict[str, set[str]] = {}
    for kind, _, _, template in new:
        types.setdefault(kind, set()).add(template)
    rows += [
        {"kind": "type", "name": kind, "now_template": next(iter(found))}
        for kind, found in sorted(types.items())
        if len(found) == 1 and next(iter(found))
    ]
    for name, (ms, hf) in sorted(old["data"].items()):
        rows.append({"kind": "data", "name": name, "ms": ms, "hf": hf})
    lines = (
        json.dumps({k: v for k, v in row.items() if v}, ensure_ascii=False, separators=(",", ":"))
        for row in rows
    )
    (Path(sys.argv[3]) / "names-ms-swift-2.jsonl").write_text("\n".join(lines) + "\n")


def _ask(python: str, program: str) -> Any:  # noqa: ANN401 - what the program prints
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    return json.loads(done.stdout.rpartition("@@")[2])


if __name__ == "__main__":
    main()
