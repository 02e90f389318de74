python dpo.py --config dpo.yaml
