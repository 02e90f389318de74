export CUDA_VISIBLE_DEVICES=0,1,2,3
export NPROC_PER_NODE=4
swift rlhf \
    --rlhf_type grpo \
    --model Qwen/Qwen2.5-7B-Instruct \
    --use_vllm false \
    --reward_funcs format \
    --train_type full \
    --torch_dtype bfloat16 \
    --dataset math.jsonl \
    --max_completion_length 4096 \
    --per_device_train_batch_size 8 \
    --num_generations 8 \
    --deepspeed zero2 \
    --output_dir output
