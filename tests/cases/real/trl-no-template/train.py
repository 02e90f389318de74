from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

model_path = "/data/models/tiny-qwen2.5-base"
tokenizer = AutoTokenizer.from_pretrained(model_path)
model = AutoModelForCausalLM.from_pretrained(model_path)
dataset = load_dataset("json", data_files="train.jsonl", split="train")

args = SFTConfig(
    output_dir="output",
    max_steps=4,
    per_device_train_batch_size=2,
    learning_rate=1e-4,
    logging_steps=1,
    report_to="none",
    
)
trainer = SFTTrainer(model=model, args=args, train_dataset=dataset, processing_class=tokenizer)
trainer.train()
