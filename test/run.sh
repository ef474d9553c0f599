#!/bin/sh
# `npm test [-- FILTER…]`: sets up what is missing, builds, runs the tests (see run.mjs for filters).
set -eu
ROOT=$(cd "$(dirname "$0")/.." && pwd)
. "$ROOT/deploy/setup/install.sh"

# What is generated from openapi/definitions must be what is checked in.
check_generated() {
  before=$(mktemp -d)
  cp -R openapi/generated/. "$before"
  node --import tsx openapi/generate/main.ts
  difference=$(diff -rq "$before" openapi/generated) || {
    rm -rf "$before"
    echo "$difference" >&2
    fail 'openapi/generated was not what `npm run generate` writes; it is now: commit it'
  }
  rm -rf "$before"
}

cd "$ROOT"
check_node
install_system_packages
install_npm_packages
[ $# -gt 0 ] || check_generated
build_bundles
build_guest
node deploy/setup/kubectl.mjs
exec node --import tsx test/run.mjs "$@"
