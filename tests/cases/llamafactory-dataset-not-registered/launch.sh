llamafactory-cli train train_ds.yaml
