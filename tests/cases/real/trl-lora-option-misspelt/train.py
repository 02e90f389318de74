from datasets import load_dataset
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer

MODEL = "/data/models/tiny-qwen2.5"
DATA = "train.jsonl"

dataset = load_dataset("json", data_files=DATA, split="train")
settings = {
    "output_dir": "out",
    "max_steps": 2,
    "logging_steps": 1,
    "per_device_train_batch_size": 2,
    "report_to": "none",
    "bf16": False,
    "use_cpu": True,
}
args = SFTConfig(**settings)
lora = LoraConfig(r=8, task_type="CAUSAL_LM", use_rs_lora=True)
trainer = SFTTrainer(
    model=MODEL,
    args=args,
    train_dataset=dataset,
    peft_config=lora,
)
trainer.train()
