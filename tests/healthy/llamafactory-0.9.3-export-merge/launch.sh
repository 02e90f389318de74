llamafactory-cli export merge.yaml
