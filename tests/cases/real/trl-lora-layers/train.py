from datasets import load_dataset
from peft import LoraConfig
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
)
lora = LoraConfig(r=8, task_type="CAUSAL_LM", target_modules=["q_proj"], layers_to_transform=[99])
trainer = SFTTrainer(
    model="/data/models/tiny-qwen2.5",
    args=args,
    train_dataset=dataset,
    peft_config=lora,
)
trainer.train()
