from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer

model_path = "/data/models/tiny-qwen2.5"
tokenizer = AutoTokenizer.from_pretrained(model_path)
model = AutoModelForCausalLM.from_pretrained(model_path)
dataset = load_dataset("json", data_files="data/train.jsonl", split="train")
args = DPOConfig(
    output_dir="output",
    beta=0.1,
    max_steps=6,
    per_device_train_batch_size=2,
    learning_rate=5e-6,
    logging_steps=1,
    bf16=False,
    report_to="none",
)
trainer = DPOTrainer(model=model, args=args, train_dataset=dataset, processing_class=tokenizer)
trainer.train()
