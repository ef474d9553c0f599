#!/bin/sh
# `npm run bench [-- NAME… FLAGS]`: builds what is missing, then measures (see main.ts).
set -eu
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
. "$ROOT/deploy/setup/install.sh"

cd "$ROOT"
check_node
install_npm_packages
build_bundles
case " $* " in
  *' vms '*) real=yes ;;
  *' api '* | *' node '* | *' scale '* | *' admission '*) real=no ;;
  *) real=yes ;;
esac
if [ "$real" = yes ]; then
  install_system_packages
  build_guest
fi
exec node --import tsx test/bench/main.ts "$@"
