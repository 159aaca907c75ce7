# Sets $python to a Python that has PyTorch; empty if there is none.
# shellcheck shell=sh
for python in /usr/bin/python3 python3; do
    OPENBLAS_NUM_THREADS=1 $python -c 'import torch' 2>/dev/null && break
    python=
done
