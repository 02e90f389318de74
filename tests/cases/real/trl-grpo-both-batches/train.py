from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer


def reward(completions, **kwargs):
    return [-float(len(one)) for one in completions]


dataset = load_dataset("json", data_files="train.jsonl", split="train")
args = GRPOConfig(
    output_dir="out",
    max_steps=2,
    logging_steps=1,
    per_device_train_batch_size=2,
    report_to="none",
    bf16=False,
    use_cpu=True,
    num_generations=2,
    max_completion_length=16,
    generation_batch_size=4,
    steps_per_generation=2,
)
trainer = GRPOTrainer(
    model="/data/models/tiny-qwen2.5",
    args=args,
    train_dataset=dataset,
    reward_funcs=reward,
)
trainer.train()
