llamafactory-cli train train_stream.yaml
