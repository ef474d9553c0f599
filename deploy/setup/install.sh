#!/bin/sh
# Everything that has to be there before Nativirt runs from this checkout. Each step does nothing if nothing is missing.
# Run it, or source it with ROOT set to the checkout and call the steps that are wanted.
set -eu

say() {
  echo "set-up: $*"
}

fail() {
  echo "set-up: $*" >&2
  exit 1
}

# Node ≥ 20.18.
check_node() {
  command -v node >/dev/null || fail 'no node on the PATH; install Node.js 20.18 or newer'
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 18) ? 0 : 1)' ||
    fail "this is Node.js $(node --version); it has to be 20.18 or newer"
}

# The Debian packages of what is missing.
missing_packages() {
  command -v qemu-system-x86_64 >/dev/null || printf ' qemu-system-x86'
  command -v qemu-img >/dev/null || printf ' qemu-utils'
  # The TPM of guests that have one.
  command -v swtpm >/dev/null || printf ' swtpm'
  # Firmware of guests that boot by EFI, where Debian or others keep it.
  [ -e /usr/share/OVMF/OVMF_CODE_4M.fd ] || [ -e /usr/share/OVMF/OVMF_CODE.fd ] || [ -e /usr/share/edk2/ovmf/OVMF_CODE.fd ] || printf ' ovmf'
}

is_debian() {
  [ -r /etc/os-release ] && (
    . /etc/os-release
    case " ${ID:-} ${ID_LIKE:-} " in
      *' debian '* | *' ubuntu '*) exit 0 ;;
      *) exit 1 ;;
    esac
  )
}

# apt_get ARGUMENT…: as root, or with sudo.
apt_get() {
  if [ "$(id -u)" = 0 ]; then
    DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"
  fi
}

# The package lists of a new machine or container are empty or too old.
install_debian_packages() {
  # shellcheck disable=SC2086 # one package a word
  apt_get install -y --no-install-recommends $1 >/dev/null 2>&1 && return
  apt_get update >/dev/null || say 'apt-get update failed; trying with the package lists that are there'
  # shellcheck disable=SC2086
  apt_get install -y --no-install-recommends $1
}

# QEMU and what it works with, through the system's package manager.
install_system_packages() {
  packages=$(missing_packages)
  [ -n "$packages" ] || return 0
  is_debian || fail "install QEMU, swtpm and OVMF with your package manager: the commands qemu-system-x86_64, qemu-img and swtpm, and EFI firmware (on Debian the packages$packages)"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "these packages are missing; as root: apt-get install$packages"
    say "installing with sudo:$packages"
  else
    say "installing:$packages"
  fi
  install_debian_packages "$packages" || fail "could not install$packages"
  [ -z "$(missing_packages)" ] || fail "installed$packages, but still missing:$(missing_packages)"
}

# npm packages, as package-lock.json has them.
install_npm_packages() {
  if [ -e "$ROOT/node_modules/.package-lock.json" ] &&
    ! [ "$ROOT/package-lock.json" -nt "$ROOT/node_modules/.package-lock.json" ]; then
    return 0
  fi
  command -v npm >/dev/null || fail 'no npm on the PATH; it comes with Node.js'
  say 'installing npm packages'
  (cd "$ROOT" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) || fail 'npm ci failed'
}

bundles_are_current() {
  for bundle in nativirt apiserver controllers node-agent launcher standalone kubectl-virt; do
    [ -e "$ROOT/dist/$bundle.js" ] || return 1
  done
  changed=$(cd "$ROOT" && find openapi storage apiserver controllers node-agent launcher cli deploy package-lock.json \
    -type f -newer dist/nativirt.js ! -name '*.test.ts' -print | head -n 1)
  [ -z "$changed" ]
}

# dist/, from the sources.
build_bundles() {
  bundles_are_current || (cd "$ROOT" && node deploy/build/build.mjs) || fail 'the build failed'
}

# The guest image of the demo and the tests, in build/guest.
build_guest() {
  sh "$ROOT/test/guest/build-guest.sh" "$@" || fail 'could not make the guest image'
}

set_up() {
  check_node
  install_system_packages
  install_npm_packages
  build_bundles
  build_guest
}

case ${0##*/} in
  install.sh)
    ROOT=$(cd "$(dirname "$0")/../.." && pwd)
    set_up
    ;;
esac
