from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("json", data_files="train.jsonl", split="train")

args = SFTConfig(
    output_dir="out", per_device_train_batch_size=2, max_steps=2, logging_steps=1,
    save_strategy="no", use_cpu=True, bf16=False, report_to="none", max_length=256,
)
trainer = SFTTrainer(model="./model", args=args, train_dataset=dataset)
trainer.train()
