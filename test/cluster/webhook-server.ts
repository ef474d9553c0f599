/** An admission webhook as somebody else would write it: HTTPS, on this machine, with what it was asked to look at. */
import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { CertificateAuthority } from '../../apiserver/pki/authority.js';
import type { KubernetesObject } from '../../openapi/meta.js';

export interface Review {
  readonly uid: string;
  readonly operation: string;
  readonly userInfo: { readonly username: string };
  readonly object: KubernetesObject | null;
  readonly oldObject: KubernetesObject | null;
  readonly [member: string]: unknown;
}

export interface WebhookServer {
  /** Where the webhook of that name is, for a `clientConfig`. */
  client(name: string): { readonly url: string; readonly caBundle: string };
  /** What the webhook of that name answers from now on; undefined: a failure. */
  answer(name: string, answer: (review: Review) => object | undefined): void;
  asked(name: string): readonly Review[];
  close(): Promise<void>;
}

export async function startWebhookServer(authority: CertificateAuthority): Promise<WebhookServer> {
  const answers = new Map<string, (review: Review) => object | undefined>();
  const reviews = new Map<string, Review[]>();
  const server = https.createServer(
    authority.issue({ commonName: 'webhook', ips: ['127.0.0.1'], usages: ['server'], days: 1 }),
    (incoming, outgoing) => {
      const name = new URL(incoming.url ?? '/', 'https://webhook').pathname.slice(1);
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const { request } = JSON.parse(Buffer.concat(chunks).toString()) as { request: Review };
        reviews.set(name, [...(reviews.get(name) ?? []), request]);
        const answer = answers.get(name)?.(request);
        if (answer === undefined) {
          outgoing.writeHead(500).end('out of order');
          return;
        }
        const response = { uid: request.uid, ...answer };
        outgoing.end(
          JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }),
        );
      });
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has one of these.
  const { port } = server.address() as AddressInfo;
  return {
    client: (name) => ({
      url: `https://127.0.0.1:${port}/${name}`,
      caBundle: Buffer.from(authority.cert).toString('base64'),
    }),
    answer: (name, answer) => answers.set(name, answer),
    asked: (name) => reviews.get(name) ?? [],
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
