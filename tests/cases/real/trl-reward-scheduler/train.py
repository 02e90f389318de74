from datasets import load_dataset
from trl import RewardConfig, RewardTrainer

dataset = load_dataset("json", data_files="train.jsonl", split="train")
args = RewardConfig(
    output_dir="out",
    max_steps=2,
    logging_steps=1,
    per_device_train_batch_size=2,
    report_to="none",
    bf16=False,
    use_cpu=True,
    lr_scheduler_type="cosine_with_restart",
)
trainer = RewardTrainer(
    model="/data/models/tiny-qwen2.5",
    args=args,
    train_dataset=dataset,
)
trainer.train()
