FORCE_TORCHRUN=1 llamafactory-cli train qwen3vl_full_sft.yaml
