#!/bin/bash
trl sft --config sft.yaml
