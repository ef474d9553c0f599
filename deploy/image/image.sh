#!/bin/sh
# `npm run image [-- FLAGS]`: builds, then writes the images (see main.ts).
set -eu
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
. "$ROOT/deploy/setup/install.sh"

for program in apt-get dpkg-deb; do
  command -v "$program" >/dev/null ||
    fail "npm run image takes Debian packages, and there is no $program; elsewhere use the Containerfiles beside it"
done
cd "$ROOT"
check_node
install_npm_packages
node deploy/build/build.mjs
exec node --import tsx deploy/image/main.ts "$@"
