swift sft \
    --model_type qwen2_5-7b-instruct \
    --dataset alpaca-zh#500 data.jsonl \
    --train_dataset_sample 1000 \
    --self_cognition_sample 100 \
    --model_name tiny 小 --model_author me 我 \
    --template_type qwen2_5 \
    --dtype AUTO \
    --output_dir out
