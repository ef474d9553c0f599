/** Who is who in a standalone cluster: one authority, and a certificate for each part and for the administrator. */
import type { KeyObject } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { NodeAgent } from '../../apiserver/admission/components.js';
import type { CertificateAuthority, KeyPair } from '../../apiserver/pki/authority.js';
import { ensureCa } from '../../apiserver/pki/authority.js';
import { writeSecretFile } from '../../apiserver/pki/files.js';
import { kubeconfigFor } from '../../apiserver/pki/kubeconfig.js';
import { ensureServiceAccountKey } from '../../apiserver/pki/service-account-key.js';
import type { UserInfo } from '../../apiserver/request.js';
import { apiserverUser, nodeAgentServerName } from '../../openapi/node-agent.js';

export const controllersUser = 'system:nativirt-controllers';
export const nodesGroup = 'system:nativirt-nodes';
const nodeUserPrefix = 'system:nativirt-node:';
export const nodeUser = (node: string): string => `${nodeUserPrefix}${node}`;

/** Parts that write what users may not. */
export function isComponent({ name, groups }: UserInfo): boolean {
  return name === controllersUser || name === apiserverUser || groups.includes(nodesGroup);
}

export function nodeAgentOf({ name, groups }: UserInfo): NodeAgent | undefined {
  if (!groups.includes(nodesGroup)) return undefined;
  return { node: name.startsWith(nodeUserPrefix) ? name.slice(nodeUserPrefix.length) : undefined };
}

/** Certificates are made anew at each start, so they need only outlive one run. */
const leafDays = 365;

export interface Identities {
  readonly authority: CertificateAuthority;
  /** PEM of what everybody trusts. */
  readonly ca: string;
  readonly serving: KeyPair;
  /** Signs the tokens of service accounts. */
  readonly serviceAccountKey: KeyObject;
  /** What the API server shows to node agents. */
  readonly apiserverClient: KeyPair;
  readonly admin: KeyPair;
  readonly controllers: KeyPair;
  /** Of one node agent: for its requests, and for its streams. */
  node(name: string): { readonly client: KeyPair; readonly server: KeyPair };
}

export async function createIdentities(dataDirectory: string, bindAddress: string): Promise<Identities> {
  const directory = path.join(dataDirectory, 'pki');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const authority = await ensureCa(directory);
  const client = (commonName: string, ...organizations: string[]): KeyPair =>
    authority.issue({ commonName, organizations, usages: ['client'], days: leafDays });
  const server = (commonName: string, dnsNames: string[]): KeyPair =>
    authority.issue({
      commonName,
      dnsNames,
      ips: servedAddresses(bindAddress),
      usages: ['server'],
      days: leafDays,
    });
  return {
    authority,
    ca: authority.cert,
    serviceAccountKey: await ensureServiceAccountKey(directory),
    serving: server('nativirt', [
      'localhost',
      'nativirt',
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
    ]),
    apiserverClient: client(apiserverUser),
    admin: client('admin', 'system:masters'),
    controllers: client(controllersUser),
    node: (name) => ({
      client: client(nodeUser(name), nodesGroup),
      server: server(nodeAgentServerName(name), [nodeAgentServerName(name)]),
    }),
  };
}

/** Writes `admin.kubeconfig` for this run's address and returns its path. */
export async function writeAdminKubeconfig(
  dataDirectory: string,
  identities: Identities,
  server: string,
): Promise<string> {
  const file = path.join(dataDirectory, 'admin.kubeconfig');
  await writeSecretFile(
    file,
    kubeconfigFor({ server, ca: identities.ca, ...identities.admin, namespace: 'default' }),
  );
  return file;
}

function servedAddresses(bindAddress: string): string[] {
  const loopback = ['127.0.0.1', '::1'];
  return ['0.0.0.0', '::', ...loopback].includes(bindAddress) ? loopback : [...loopback, bindAddress];
}
