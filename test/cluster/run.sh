#!/bin/sh
# `npm run test:cluster`: the API server behind a real kube-apiserver, on each store. KUBEBUILDER_ASSETS names the folder with
# kube-apiserver and etcd, as setup-envtest makes it; a kube-controller-manager and a kubectl in it are used, too.
set -eu
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
. "$ROOT/deploy/setup/install.sh"

cd "$ROOT"
check_node
install_npm_packages
node deploy/setup/kubectl.mjs
exec node --import tsx --test --test-reporter spec test/cluster/kubernetes/main.ts
