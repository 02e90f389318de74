from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("parquet", data_files="train.parquet", split="train")

args = SFTConfig(
    output_dir="out", per_device_train_batch_size=2, max_steps=2, logging_steps=1,
    save_strategy="no", use_cpu=True, bf16=False, report_to="none", completion_only_loss=True,
)
trainer = SFTTrainer(model="./model", args=args, train_dataset=dataset)
trainer.train()
