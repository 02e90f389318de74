from datasets import load_dataset
from trl import DPOConfig, DPOTrainer

ds = load_dataset("json", data_files={"train": "pref/train-*.jsonl", "test": "pref/test.jsonl"})
dataset = ds["train"]

args = DPOConfig(
    output_dir="out",
    per_device_train_batch_size=2,
    max_steps=2,
    logging_steps=1,
    learning_rate=1e-5,
    save_strategy="no",
    report_to="none",
    bf16=False,
    use_cpu=True,
    eval_strategy="steps",
    eval_steps=2,
)
trainer = DPOTrainer(
    model="./model",
    args=args,
    train_dataset=dataset,
    eval_dataset=ds["test"],
)
trainer.train()
