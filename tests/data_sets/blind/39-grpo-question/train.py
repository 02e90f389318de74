from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

dataset = load_dataset("json", data_files="math.jsonl", split="train")

def exact(completions, answer, **kwargs):
    out = []
    for c, gold in zip(completions, answer):
        text = c if isinstance(c, str) else c[0]["content"]
        out.append(1.0 if gold in text else 0.0)
    return out

args = GRPOConfig(
    output_dir="out",
    per_device_train_batch_size=2,
    max_steps=2,
    logging_steps=1,
    learning_rate=1e-5,
    save_strategy="no",
    report_to="none",
    bf16=False,
    use_cpu=True,
    num_generations=2,
    max_completion_length=16,
)
trainer = GRPOTrainer(
    model="./model",
    args=args,
    train_dataset=dataset,
    reward_funcs=exact,
)
trainer.train()
