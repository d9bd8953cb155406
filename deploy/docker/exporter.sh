#!/bin/sh
# Makes what exports one engine's weights: exporter.sh ENGINE → /venv, the Python with the versions of
# exporter/ENGINE.txt, and /upstream, the upstream repository at the commit of published/ENGINE.json.
set -eu
engine=$1
release=/published/$engine.json
field() { python -c "import json, sys; print(json.load(open('$release'))[0]['upstream'][sys.argv[1]])" "$1"; }

python -m venv /venv
# The second index has wheels of torch without CUDA: tracing needs no card, and CUDA's are gigabytes. omegaconf's parser is
# published as source only; nothing else is built here.
/venv/bin/pip install --no-cache-dir --disable-pip-version-check \
  --only-binary :all: --no-binary antlr4-python3-runtime \
  --index-url "$PYTHON_INDEX" --extra-index-url "$TORCH_INDEX" --requirement "/exporter/$engine.txt"

git init --quiet /upstream
git -C /upstream fetch --quiet --depth 1 "$UPSTREAM_ADDRESS/$(field repository)" "$(field commit)"
git -C /upstream checkout --quiet FETCH_HEAD
test "$(git -C /upstream rev-parse HEAD)" = "$(field commit)"
# The commit is proved; whose checkout it is would matter to git in the image.
rm -rf /upstream/.git
