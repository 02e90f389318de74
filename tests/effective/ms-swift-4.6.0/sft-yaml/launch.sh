#!/bin/bash
swift sft train.yaml --learning_rate 2e-5
