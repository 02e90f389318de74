#!/usr/bin/env bash
set -e
torchrun --standalone --nnodes=1 --nproc_per_node=1 \
    -m verl.trainer.fsdp_sft_trainer \
    data.train_files=./train.parquet \
    data.val_files=./test.parquet \
    data.multiturn.enable=true \
    data.multiturn.messages_key=messages \
    data.train_batch_size=4 \
    data.micro_batch_size_per_gpu=2 \
    data.max_length=512 \
    model.partial_pretrain=./model \
    trainer.default_local_dir=./ckpt \
    trainer.logger=console \
    trainer.total_training_steps=2
