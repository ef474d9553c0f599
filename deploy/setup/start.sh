#!/bin/sh
# `npm start -- FLAGS`: what is missing is installed and built, then the standalone control plane runs in the foreground.
set -eu
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
. "$ROOT/deploy/setup/install.sh"

check_node
install_system_packages
install_npm_packages
build_bundles
# The examples' guest; on other distributions images come from a registry.
if is_debian; then build_guest; fi
exec "$ROOT/bin/nativirt" standalone --image-layout-dir "$ROOT/build/guest/oci" "$@"
