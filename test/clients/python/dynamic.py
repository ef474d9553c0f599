"""Creates, watches and deletes a VirtualMachine with Debian's python3-kubernetes, which knows nothing of the kind."""

import sys

from kubernetes import config, dynamic
from kubernetes.client import api_client

MACHINE = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "by-dynamic-python"},
    "spec": {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}}}}},
}


def main(kubeconfig):
    client = dynamic.DynamicClient(
        api_client.ApiClient(configuration=config.load_kube_config(config_file=kubeconfig))
    )
    machines = client.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
    before = machines.get(namespace="default").metadata.resourceVersion
    machines.create(body=MACHINE, namespace="default")
    patch = {"spec": {"runStrategy": "Manual"}}
    name = MACHINE["metadata"]["name"]
    asked_to_go = False
    for event in machines.watch(namespace="default", resource_version=before, timeout=30):
        print(event["type"], event["object"].metadata.name)
        seen = event["object"]
        if event["type"] == "DELETED":
            break
        if event["type"] == "ADDED":
            machines.patch(
                body=patch, name=name, namespace="default", content_type="application/merge-patch+json"
            )
        elif seen.spec.runStrategy == "Manual" and not asked_to_go:
            asked_to_go = True
            machines.delete(name=name, namespace="default")


main(sys.argv[1])
