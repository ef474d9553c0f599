import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.KubevirtIoV1Api;
import org.openapitools.client.model.*;

/** Creates, watches and deletes a VirtualMachine with the generated client. */
public class Main {
  private static SSLContext trusting(Path authority) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null);
    try (InputStream in = Files.newInputStream(authority)) {
      store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory managers =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    return context;
  }

  private static ApiClient newClient() throws Exception {
    ApiClient client = new ApiClient();
    URI server = URI.create(System.getenv("NATIVIRT_SERVER"));
    client.setScheme(server.getScheme()).setHost(server.getHost()).setPort(server.getPort());
    client.setHttpClientBuilder(
        java.net.http.HttpClient.newBuilder()
            .sslContext(trusting(Path.of(System.getenv("NATIVIRT_CA")))));
    String token = "Bearer " + System.getenv("NATIVIRT_TOKEN");
    client.setRequestInterceptor(request -> request.header("Authorization", token));
    return client;
  }

  private static IoKubevirtV1VirtualMachine machine(String name) {
    IoKubevirtV1DomainSpec domain =
        new IoKubevirtV1DomainSpec()
            .devices(new IoKubevirtV1Devices())
            .memory(new IoKubevirtV1Memory().guest("64Mi"));
    IoKubevirtV1VirtualMachineInstanceTemplateSpec template =
        new IoKubevirtV1VirtualMachineInstanceTemplateSpec()
            .spec(new IoKubevirtV1VirtualMachineInstanceSpec().domain(domain));
    return new IoKubevirtV1VirtualMachine()
        .apiVersion("kubevirt.io/v1")
        .kind("VirtualMachine")
        .metadata(new IoK8sApimachineryPkgApisMetaV1ObjectMeta().name(name))
        .spec(new IoKubevirtV1VirtualMachineSpec().runStrategy("Halted").template(template));
  }

  private static IoKubevirtV1VirtualMachineList list(
      KubevirtIoV1Api api, String version, Boolean watch, Integer seconds) throws ApiException {
    return api.listKubevirtIoV1NamespacedVirtualMachine(
        "default", null, null, null, null, null, null, version, null, null, seconds, watch);
  }

  /** What still has finalizers is answered with as it is, where the client reads a Status only. */
  private static void delete(KubevirtIoV1Api api, String name) throws ApiException {
    try {
      api.deleteKubevirtIoV1NamespacedVirtualMachine(
          name, "default", null, null, null, null, null, null);
    } catch (ApiException unread) {
      if (!(unread.getCause() instanceof java.io.IOException)) throw unread;
    }
  }

  private static boolean exists(KubevirtIoV1Api api, String name) throws ApiException {
    try {
      api.readKubevirtIoV1NamespacedVirtualMachine(name, "default", null);
      return true;
    } catch (ApiException refusal) {
      if (refusal.getCode() != 404) throw refusal;
      return false;
    }
  }

  /** The client takes a watch for a list; its hook for responses reads the events first. */
  private static void printEvents(String version) throws Exception {
    ApiClient client = newClient();
    client.setResponseInterceptor(
        response -> {
          try (MappingIterator<JsonNode> events =
              client.getObjectMapper().readerFor(JsonNode.class).readValues(response.body())) {
            while (events.hasNext()) {
              JsonNode event = events.next();
              IoKubevirtV1VirtualMachine vm =
                  client.getObjectMapper().treeToValue(event.get("object"), IoKubevirtV1VirtualMachine.class);
              System.out.println(event.get("type").asText() + " " + vm.getMetadata().getName());
            }
          } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
          }
        });
    try {
      list(new KubevirtIoV1Api(client), version, true, 1);
    } catch (ApiException read) {
      if (!(read.getCause() instanceof java.io.IOException)) throw read;
    }
  }

  public static void main(String[] arguments) throws Exception {
    KubevirtIoV1Api api = new KubevirtIoV1Api(newClient());
    String before = list(api, null, null, null).getMetadata().getResourceVersion();
    IoKubevirtV1VirtualMachine vm =
        api.createKubevirtIoV1NamespacedVirtualMachine(
            "default", machine("by-java"), null, null, null, null);
    if (!"Halted".equals(vm.getSpec().getRunStrategy())) throw new AssertionError(vm);
    delete(api, "by-java");
    while (exists(api, "by-java")) Thread.sleep(100);
    printEvents(before);
  }
}
