swift infer \
    --adapters out/lora/checkpoint-2 \
    --val_dataset test.jsonl \
    --infer_backend pt \
    --max_new_tokens 8 \
    --temperature 0 \
    --max_batch_size 2 \
    --result_path out/result.jsonl
