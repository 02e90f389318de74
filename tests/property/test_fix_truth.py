"""Any launch: what is offered reads back as it is said, and touches nothing else."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from examples import examples
from trainrx import fix_launch, inspect_launch

TEMPLATE = """\
#!/bin/bash
# keep me
export OUT='my output'   # and me
NPROC_PER_NODE={world} \\
swift sft \\
    --model Qwen/Qwen2.5-7B-Instruct \\
    --train_type {tuner}{equals}\\
    --dataset "a b.jsonl" \\
    --output_dir "$OUT" \\
    --max_length {length} \\
    --per_device_train_batch_size {micro} \\
    --gradient_accumulation_steps {accum} \\
    --torch_dtype bfloat16
echo done
"""
UNTOUCHED = ("# keep me", "export OUT='my output'   # and me", '--dataset "a b.jsonl"', "echo done")


@st.composite
def launches(draw):
    return TEMPLATE.format(
        world=draw(st.sampled_from([1, 2, 4])),
        tuner=draw(st.sampled_from(["lora", "full"])),
        equals=draw(st.sampled_from([" ", " --lora_rank=16 "])),
        length=draw(st.sampled_from([2048, 8192, 32768])),
        micro=draw(st.sampled_from([1, 2, 6, 8])),
        accum=draw(st.sampled_from([1, 3, 8])),
    )


@settings(examples(4), phases=[Phase.generate])
@given(launches(), st.sampled_from(["24GiB", "48GiB"]))
def test_what_is_offered_reads_back_and_touches_nothing_else(text, card):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "launch.sh"
        path.write_text(text, encoding="utf-8")
        answer = fix_launch(
            path, versions={"ms-swift": "3.2.1"}, gpu=card, note="CUDA out of memory"
        )
        for item in answer.proposals:
            for file in item.patched.files:
                assert file.before in (text, None)
                if file.before is None:
                    continue
                assert all(line in file.after for line in UNTOUCHED)
                path.write_text(file.after, encoding="utf-8")
                _says_what_is_offered(path, item)


def _says_what_is_offered(path, item):
    (job,) = inspect_launch(path, versions={"ms-swift": "3.2.1"}).jobs
    read = {one.name: one.text for one in job.arguments}
    for change in item.changes:
        if change.kind == "arg" and change.to is not None and change.param in read:
            assert read[change.param].split("/")[-1] in (change.to, change.to.split("/")[-1])
