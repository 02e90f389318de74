llamafactory-cli train train_nan.yaml
