from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer


def digits(completions, **_):
    texts = [c[0]["content"] for c in completions]
    return [sum(c.isdigit() for c in text) / max(len(text), 1) for text in texts]


def main() -> None:
    data = load_dataset("json", data_files="trl_prompt.jsonl", split="train")
    config = GRPOConfig(
        output_dir="out/grpo",
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=16,
        learning_rate=1e-6,
        max_steps=5,
        logging_steps=1,
        bf16=False,
        use_cpu=True,
        report_to="none",
    )
    GRPOTrainer(model="./tiny", reward_funcs=digits, args=config, train_dataset=data).train()


if __name__ == "__main__":
    main()
