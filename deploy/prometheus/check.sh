#!/bin/sh
# Checks the rules with Prometheus' own tool and runs their tests. Needs promtool (Debian: the package prometheus).
set -eu
cd "$(dirname "$0")"
promtool check rules ../helm/lipsync/files/lipsync.rules.yaml
promtool test rules tests/*.test.yaml
