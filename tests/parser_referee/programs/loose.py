"""A parser that passes on what it does not know."""

import argparse

from trl import SFTConfig, SFTTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, required=True)
parser.add_argument("--fast", type=lambda word: word.lower() == "true", default=False)
args, rest = parser.parse_known_args()
SFTTrainer(model="m", args=SFTConfig(num_train_epochs=args.epochs)).train()
