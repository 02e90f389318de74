from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

dataset = load_dataset("json", data_files="train.jsonl", split="train")

def correct(completions, answer, **kwargs):
    return [1.0 if a in c[0]["content"] else 0.0 for c, a in zip(completions, answer)]

args = GRPOConfig(
    output_dir="out", per_device_train_batch_size=2, max_steps=2, logging_steps=1,
    save_strategy="no", use_cpu=True, bf16=False, report_to="none", num_generations=2, max_completion_length=16,
)
trainer = GRPOTrainer(model="./model", args=args, train_dataset=dataset, reward_funcs=correct)
trainer.train()
