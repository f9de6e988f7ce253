#!/usr/bin/env bash
# Parity, throughput and share of the roofline on one GPU, in under 8 minutes and without a network.
# Skips with a reason and status 0 where there is no GPU. Arguments go to gpu_check.py.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export HF_HUB_OFFLINE=1 PYTHONPATH="$here/..${PYTHONPATH:+:$PYTHONPATH}"
if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
  echo "gpu_check: skipped: nvidia-smi finds no GPU"
  exit 0
fi
exec timeout 475 "${PYTHON:-python3}" "$here/gpu_check.py" "$@"
