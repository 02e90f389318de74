#!/bin/bash
llamafactory-cli train train.yaml
