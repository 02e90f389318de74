llamafactory-cli train qwen3_lora_sft.yaml
