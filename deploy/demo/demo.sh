#!/bin/sh
# `npm run demo [-- --keep]`: from a fresh clone to a virtual machine that one can log in to.
set -eu
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
. "$ROOT/deploy/setup/install.sh"

for argument in "$@"; do
  case $argument in
    --help | -h)
      cat <<'END'
Usage: npm run demo -- [--keep] [--data-dir DIR]

Installs what is missing, builds, starts the control plane, and boots a virtual machine to its login.

  --keep           leave the control plane and the virtual machine running
  --data-dir DIR   where their data goes (default: a temporary directory; with --keep ~/.local/share/nativirt-demo)
END
      exit 0
      ;;
  esac
done

set_up
node "$ROOT/deploy/setup/kubectl.mjs"
cd "$ROOT"
exec node --import tsx deploy/demo/demo.ts "$@"
