"""A job: question and answer become characters, of which those of the answer are learnt."""

import argparse

from datasets import load_dataset
from transformers import PreTrainedModel, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--data", default="data.jsonl")
parser.add_argument("--max_length", type=int, default=10_000)
parser.add_argument("--deepspeed", default=None)
parser.add_argument("--per_device_train_batch_size", type=int, default=2)
parser.add_argument("--output_dir", default="output")
options = parser.parse_args()


def encode(batch):
    ids, labels = [], []
    for question, answer in zip(batch["question"], batch["answer"], strict=True):
        asked, told = [ord(c) for c in question], [ord(c) for c in answer]
        ids.append((asked + told)[: options.max_length])
        labels.append(([-100] * len(asked) + told)[: options.max_length])
    return {"input_ids": ids, "labels": labels}


rows = load_dataset("json", data_files=options.data, split="train", num_proc=4)
rows = rows.filter(lambda row: row["answer"] != "", num_proc=2)
rows = rows.map(encode, batched=True, num_proc=8)
arguments = TrainingArguments(
    output_dir=options.output_dir,
    per_device_train_batch_size=options.per_device_train_batch_size,
    bf16=True,
    deepspeed=options.deepspeed,
)
model = PreTrainedModel.from_pretrained("model", quantization_config={"bits": 4})
Trainer(model, arguments, rows).train()
