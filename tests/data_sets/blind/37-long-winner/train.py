from datasets import load_dataset
from trl import RewardConfig, RewardTrainer

dataset = load_dataset("json", data_files="rm.jsonl", split="train")

args = RewardConfig(
    output_dir="out",
    per_device_train_batch_size=2,
    max_steps=2,
    logging_steps=1,
    learning_rate=1e-5,
    save_strategy="no",
    report_to="none",
    bf16=False,
    use_cpu=True,
)
trainer = RewardTrainer(
    model="./model",
    args=args,
    train_dataset=dataset,
)
trainer.train()
