FORCE_TORCHRUN=1 NPROC_PER_NODE=2 MASTER_PORT=29621 llamafactory-cli train train_ddp.yaml
