from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

model_path = "/data/models/tiny-qwen2.5"
tokenizer = AutoTokenizer.from_pretrained(model_path)
model = AutoModelForCausalLM.from_pretrained(model_path)
dataset = load_dataset("json", data_files="data/train.jsonl", split="train")
args = SFTConfig(
    output_dir="output",
    max_steps=6,
    per_device_train_batch_size=4,
    learning_rate=2e-4,
    logging_steps=1,
    bf16=False,
    report_to="none",
)
trainer = SFTTrainer(model=model, args=args, train_dataset=dataset, processing_class=tokenizer)
trainer.train()
