// Creates, watches and deletes a VirtualMachine with the generated client in package kubevirt.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"kubevirt"
)

func must(err error) {
	if refusal, ok := err.(kubevirt.GenericOpenAPIError); ok {
		log.Fatalf("%v: %s", err, refusal.Body())
	}
	if err != nil {
		log.Fatal(err)
	}
}

func newClient() *kubevirt.APIClient {
	authority, err := os.ReadFile(os.Getenv("NATIVIRT_CA"))
	must(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	configuration := kubevirt.NewConfiguration()
	configuration.Servers = kubevirt.ServerConfigurations{{URL: os.Getenv("NATIVIRT_SERVER")}}
	configuration.AddDefaultHeader("Authorization", "Bearer "+os.Getenv("NATIVIRT_TOKEN"))
	configuration.HTTPClient = &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
	}
	return kubevirt.NewAPIClient(configuration)
}

func machine(name string) kubevirt.IoKubevirtV1VirtualMachine {
	domain := kubevirt.NewIoKubevirtV1DomainSpec(*kubevirt.NewIoKubevirtV1Devices())
	memory := kubevirt.NewIoKubevirtV1Memory()
	memory.SetGuest("64Mi")
	domain.SetMemory(*memory)
	template := kubevirt.NewIoKubevirtV1VirtualMachineInstanceTemplateSpec()
	template.SetSpec(*kubevirt.NewIoKubevirtV1VirtualMachineInstanceSpec(*domain))
	spec := kubevirt.NewIoKubevirtV1VirtualMachineSpec(*template)
	spec.SetRunStrategy("Halted")
	vm := kubevirt.NewIoKubevirtV1VirtualMachine(*spec)
	vm.SetApiVersion("kubevirt.io/v1")
	vm.SetKind("VirtualMachine")
	metadata := kubevirt.NewIoK8sApimachineryPkgApisMetaV1ObjectMeta()
	metadata.SetName(name)
	vm.SetMetadata(*metadata)
	return *vm
}

// The events that the server sends from a version on. The client reads a watch whole and takes it for a list; what it could
// not read is in its error.
func watch(api *kubevirt.KubevirtIoV1ApiService, version string) []string {
	_, _, err := api.ListKubevirtIoV1NamespacedVirtualMachine(context.Background(), "default").
		Watch(true).ResourceVersion(version).TimeoutSeconds(1).Execute()
	unread, ok := err.(kubevirt.GenericOpenAPIError)
	if !ok {
		log.Fatalf("the watch was taken for a list: %v", err)
	}
	var events []string
	decoder := json.NewDecoder(bytes.NewReader(unread.Body()))
	for {
		var event struct {
			Type   string
			Object kubevirt.IoKubevirtV1VirtualMachine
		}
		if err := decoder.Decode(&event); err == io.EOF {
			return events
		} else {
			must(err)
		}
		metadata := event.Object.GetMetadata()
		events = append(events, event.Type+" "+metadata.GetName())
	}
}

func main() {
	api := newClient().KubevirtIoV1Api
	background := context.Background()
	list, _, err := api.ListKubevirtIoV1NamespacedVirtualMachine(background, "default").Execute()
	must(err)
	before := list.GetMetadata()
	vm, _, err := api.CreateKubevirtIoV1NamespacedVirtualMachine(background, "default").
		IoKubevirtV1VirtualMachine(machine("by-go")).Execute()
	must(err)
	spec := vm.GetSpec()
	if spec.GetRunStrategy() != "Halted" {
		log.Fatalf("the run strategy is %q", spec.GetRunStrategy())
	}
	_, _, err = api.DeleteKubevirtIoV1NamespacedVirtualMachine(background, "by-go", "default").Execute()
	must(err)
	for gone := false; !gone; {
		_, response, err := api.ReadKubevirtIoV1NamespacedVirtualMachine(background, "by-go", "default").Execute()
		if gone = response != nil && response.StatusCode == http.StatusNotFound; !gone {
			must(err)
			time.Sleep(100 * time.Millisecond)
		}
	}
	for _, event := range watch(api, before.GetResourceVersion()) {
		fmt.Println(event)
	}
}
