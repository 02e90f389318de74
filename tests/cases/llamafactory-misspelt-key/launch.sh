llamafactory-cli train train_targt.yaml
