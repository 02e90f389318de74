from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

model_path = "/data/models/tiny-qwen2.5"
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
    eval_strategy="steps", eval_steps=2, save_steps=2, load_best_model_at_end=True, metric_for_best_model="accuracy",
)
trainer = SFTTrainer(model=model, args=args, train_dataset=dataset, processing_class=tokenizer, eval_dataset=dataset.select(range(8)))
trainer.train()
