"""Creates, watches and deletes a VirtualMachine with the generated client in package kubevirt."""

import json
import os

import kubevirt


def new_api():
    configuration = kubevirt.Configuration(host=os.environ["NATIVIRT_SERVER"])
    configuration.ssl_ca_cert = os.environ["NATIVIRT_CA"]
    client = kubevirt.ApiClient(configuration)
    client.set_default_header("Authorization", "Bearer " + os.environ["NATIVIRT_TOKEN"])
    return kubevirt.KubevirtIoV1Api(client)


def machine(name):
    domain = kubevirt.IoKubevirtV1DomainSpec(
        devices=kubevirt.IoKubevirtV1Devices(), memory=kubevirt.IoKubevirtV1Memory(guest="64Mi")
    )
    template = kubevirt.IoKubevirtV1VirtualMachineInstanceTemplateSpec(
        spec=kubevirt.IoKubevirtV1VirtualMachineInstanceSpec(domain=domain)
    )
    return kubevirt.IoKubevirtV1VirtualMachine(
        api_version="kubevirt.io/v1",
        kind="VirtualMachine",
        metadata=kubevirt.IoK8sApimachineryPkgApisMetaV1ObjectMeta(name=name),
        spec=kubevirt.IoKubevirtV1VirtualMachineSpec(run_strategy="Halted", template=template),
    )


def watch(api, version):
    """Events as they come, each with its object read by the client."""
    response = api.list_kubevirt_io_v1_namespaced_virtual_machine(
        "default", watch=True, resource_version=version, timeout_seconds=30, _preload_content=False
    )
    pending = b""
    for chunk in response.stream():
        *lines, pending = (pending + chunk).split(b"\n")
        for line in filter(None, lines):
            event = json.loads(line)
            read = type("Response", (), {"data": json.dumps(event["object"])})
            yield event["type"], api.api_client.deserialize(read, "IoKubevirtV1VirtualMachine")


def main():
    api = new_api()
    before = api.list_kubevirt_io_v1_namespaced_virtual_machine("default").metadata.resource_version
    vm = api.create_kubevirt_io_v1_namespaced_virtual_machine("default", machine("by-python"))
    assert vm.spec.run_strategy == "Halted", vm
    for kind, seen in watch(api, before):
        print(kind, seen.metadata.name)
        if kind == "ADDED":
            api.delete_kubevirt_io_v1_namespaced_virtual_machine("by-python", "default")
        elif kind == "DELETED":
            break


main()
