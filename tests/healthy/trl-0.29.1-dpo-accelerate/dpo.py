from datasets import load_dataset
from trl import DPOConfig, DPOTrainer, ModelConfig, ScriptArguments, TrlParser, get_peft_config


def main() -> None:
    parser = TrlParser((ScriptArguments, DPOConfig, ModelConfig))
    script, training, model = parser.parse_args_and_config()
    data = load_dataset("json", data_files=script.dataset_name, split="train")
    trainer = DPOTrainer(
        model=model.model_name_or_path,
        args=training,
        train_dataset=data,
        peft_config=get_peft_config(model),
    )
    trainer.train()
    trainer.save_model(training.output_dir)


if __name__ == "__main__":
    main()
