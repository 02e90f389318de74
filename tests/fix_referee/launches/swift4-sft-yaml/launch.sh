CUDA_VISIBLE_DEVICES=0 swift sft --config train.yaml
