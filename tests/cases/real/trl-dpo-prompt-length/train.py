from datasets import load_dataset
from trl import DPOConfig, DPOTrainer

dataset = load_dataset("json", data_files="dpo.jsonl", split="train")
args = DPOConfig(
    output_dir="out",
    max_steps=2,
    logging_steps=1,
    per_device_train_batch_size=2,
    report_to="none",
    bf16=False,
    use_cpu=True,
    max_prompt_length=64,
)
trainer = DPOTrainer(
    model="/data/models/tiny-qwen2.5",
    args=args,
    train_dataset=dataset,
)
trainer.train()
