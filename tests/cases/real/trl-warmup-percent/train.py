from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("json", data_files="train.jsonl", split="train")
args = SFTConfig(
    output_dir="out",
    max_steps=2,
    logging_steps=1,
    per_device_train_batch_size=2,
    report_to="none",
    bf16=False,
    use_cpu=True,
    warmup_ratio="10%",
)
trainer = SFTTrainer(
    model="/data/models/tiny-qwen2.5",
    args=args,
    train_dataset=dataset,
)
trainer.train()
