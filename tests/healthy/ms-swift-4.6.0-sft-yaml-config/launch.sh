swift sft config.yaml
