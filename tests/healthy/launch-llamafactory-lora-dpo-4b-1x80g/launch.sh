llamafactory-cli train qwen3_lora_dpo.yaml
