#!/bin/bash
llamafactory-cli train configs/train.yaml
