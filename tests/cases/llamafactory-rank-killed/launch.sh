FORCE_TORCHRUN=1 NPROC_PER_NODE=2 MASTER_PORT=29622 llamafactory-cli train train_kill.yaml &
sleep 40
pkill -9 -n -f 'llamafactory/launcher.py'
wait
