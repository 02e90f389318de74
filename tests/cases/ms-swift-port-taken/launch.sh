python -c "
import socket,time
s=socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0); s.bind(('0.0.0.0',29613)); s.listen(); time.sleep(40)" &
sleep 1
NPROC_PER_NODE=2 MASTER_PORT=29613 \
swift sft \
    --model ./tiny \
    --model_type qwen2_5 \
    --train_type full \
    --dataset data.jsonl \
    --torch_dtype float32 \
    --max_steps 6 \
    --output_dir out/x \
    --ddp_backend gloo
