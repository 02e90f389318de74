from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

model_path = "/data/models/tiny-qwen2.5"
tokenizer = AutoTokenizer.from_pretrained(model_path)
model = AutoModelForCausalLM.from_pretrained(model_path)
model = get_peft_model(
    model, LoraConfig(r=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
)
dataset = load_dataset("json", data_files="train.jsonl", split="train")


def encode(row):
    out = tokenizer(row["text"], truncation=True, padding="max_length", max_length=32)
    out["labels"] = list(out["input_ids"])
    return out


dataset = dataset.map(encode, remove_columns=dataset.column_names)
args = TrainingArguments(
    output_dir="output",
    max_steps=4,
    per_device_train_batch_size=2,
    gradient_checkpointing=True,
    logging_steps=1,
    report_to="none",
)
Trainer(model=model, args=args, train_dataset=dataset).train()
