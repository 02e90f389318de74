from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

dataset = load_dataset("json", data_files="mus.json", split="train")

args = SFTConfig(
    output_dir="out",
    per_device_train_batch_size=2,
    max_steps=2,
    logging_steps=1,
    learning_rate=1e-5,
    save_strategy="no",
    report_to="none",
    bf16=False,
    use_cpu=True,
    packing=True,
    packing_strategy="wrapped",
    max_length=64,
)
trainer = SFTTrainer(
    model="./model",
    args=args,
    train_dataset=dataset,
)
trainer.train()
