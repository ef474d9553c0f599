#!/bin/sh
# Makes the Linux guest that the demo and the tests run, from Debian packages, into build/guest (see build.ts).
# Needs no root and installs nothing. Does nothing if nothing changed; --force builds anyway.
set -eu
cd "$(dirname "$0")/../.."

for tool in apt-get apt-cache dpkg-deb; do
  command -v "$tool" >/dev/null || {
    echo "build-guest.sh: no $tool: the guest is made from Debian packages, on Debian or Ubuntu" >&2
    exit 1
  }
done
if [ "$(uname -m)" != x86_64 ]; then
  echo "build-guest.sh: the guest is made for x86_64, this machine is $(uname -m)" >&2
  exit 1
fi
exec node --import tsx test/guest/build.ts "$@"
