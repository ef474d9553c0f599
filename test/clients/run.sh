#!/bin/sh
# `npm run test:clients`: clients for Go, Python and Java are generated from what a server publishes, compiled, and used
# against it; then clients that others wrote. Installs Debian's packages that are missing. Takes some minutes.
set -eu
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
. "$ROOT/deploy/setup/install.sh"

packages='golang-1.19-go golang-golang-x-oauth2-dev openjdk-17-jdk-headless libjackson2-core-java
  libjackson2-databind-java libjackson2-annotations-java libjsr305-java libgeronimo-annotation-1.3-spec-java
  python3 python3-urllib3 python3-dateutil python3-six python3-certifi python3-kubernetes ruby-kubeclient'
# The last that bring their generator in the package, not by a download: the newer one writes no Go models.
generators='1.0.18-4.3.1 1.0.18-5.0.0-beta2'

missing_client_packages() {
  for package in $packages; do
    # Any JDK will do.
    case $package in openjdk-*) command -v javac >/dev/null && continue ;; esac
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf ' %s' "$package"
  done
}

install_client_packages() {
  is_debian || fail "install what these packages of Debian hold: $packages"
  missing=$(missing_client_packages)
  [ -n "$missing" ] || return 0
  say "installing:$missing"
  install_debian_packages "$missing" || fail "could not install$missing"
}

fetch_generators() {
  for version in $generators; do
    target="$ROOT/build/clients/generator-${version#*-}.jar"
    [ -e "$target" ] && continue
    say "fetching the generator ${version#*-}"
    mkdir -p "$ROOT/build/clients"
    scratch=$(mktemp -d "$ROOT/build/clients/fetch-XXXXXX")
    (cd "$scratch" && npm pack --silent "@openapitools/openapi-generator-cli@$version" >/dev/null && tar -xzf ./*.tgz) ||
      fail "could not fetch the generator $version"
    mv "$scratch/package/bin/openapi-generator.jar" "$target"
    rm -rf "$scratch"
  done
}

cd "$ROOT"
check_node
install_npm_packages
install_client_packages
fetch_generators
build_bundles
build_guest
node deploy/setup/kubectl.mjs
exec node --import tsx --test --test-reporter spec test/clients/generated.ts test/clients/*.test.ts
