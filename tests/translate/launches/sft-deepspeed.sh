export NPROC_PER_NODE=2
DS=default-zero2
swift sft --model_type qwen2_5-0_5b-instruct --model_id_or_path tiny --dataset data.jsonl \
    --sft_type full --dtype fp32 --deepspeed $DS --batch_size 1 --lazy_tokenize true --output_dir out
