llamafactory-cli train train.yaml
