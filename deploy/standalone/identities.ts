/** Who is who in a standalone cluster: one authority, and a certificate for each part and for the administrator. */
import type { KeyObject } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { NodeAgent } from '../../apiserver/admission/components.js';
import { readPair, writePair, type LeafTemplate } from '../../apiserver/pki/authority.js';
import type { KeyPair } from '../../apiserver/pki/key-pair.js';
import { readIfExists, writeSecretFile } from '../../apiserver/pki/files.js';
import { kubeconfigFor } from '../../apiserver/pki/kubeconfig.js';
import {
  defaultRotation,
  rotate,
  type Certificates,
  type RotatedCertificates,
  type RotationPolicy,
} from '../../apiserver/pki/rotation.js';
import { ensureServiceAccountKey } from '../../apiserver/pki/service-account-key.js';
import type { UserInfo } from '../../apiserver/request.js';
import { sleep, systemClock, type Clock } from '../../controllers/runtime/clock.js';
import type { Logger } from '../../controllers/runtime/logger.js';
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

/** Of a node agent, one is for its requests and one for its streams. */
export type Identity =
  'admin' | 'apiserver' | 'apiserver-client' | 'controllers' | `node-${'client' | 'server'}:${string}`;

/** All who verify live in this process: a new authority is known everywhere at once. */
const standaloneRotation: RotationPolicy = { ...defaultRotation, propagation: 0 };
/** A machine may have slept: its clock is looked at so often. */
const longestSleep = 60_000;
const authorityName = 'ca';
const bundleFile = 'ca-bundle.crt';

export interface IdentitiesOptions {
  readonly dataDirectory: string;
  readonly bindAddress: string;
  readonly nodes: readonly string[];
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Asked at each rotation. */
  readonly policy?: () => RotationPolicy;
}

/** The authority is kept in files; leaves are made anew at each start. */
export class Identities {
  readonly #listeners = new Set<() => Promise<void> | void>();
  readonly #directory: string;
  readonly #templates: Templates;
  #state: RotatedCertificates<string> | undefined;
  /** The same object until something changes: clients keep their connections by that. */
  #credentials = new Map<Identity, KeyPair & { readonly ca: string }>();

  private constructor(
    private readonly options: IdentitiesOptions,
    directory: string,
    /** Signs the tokens of service accounts. */
    readonly serviceAccountKey: KeyObject,
  ) {
    this.#directory = directory;
    this.#templates = templatesFor(options);
  }

  static async open(options: IdentitiesOptions): Promise<Identities> {
    const directory = path.join(options.dataDirectory, 'pki');
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const identities = new Identities(options, directory, await ensureServiceAccountKey(directory));
    await identities.rotate();
    return identities;
  }

  /** PEM of all authorities that count now. */
  get ca(): string {
    return this.#current.bundle;
  }

  /** When there will be something to rotate. Milliseconds since the epoch. */
  get nextAt(): number {
    return this.#current.nextAt;
  }

  /** What one of them shows, and whom it trusts. */
  credentials(of: Identity): KeyPair & { readonly ca: string } {
    const known = this.#credentials.get(of);
    if (known !== undefined) return known;
    const pair = this.#current.leaves[of];
    if (pair === undefined) throw new RangeError(`there is no identity ${of}`);
    const made = { ca: this.ca, cert: pair.cert, key: pair.key };
    this.#credentials.set(of, made);
    return made;
  }

  /** Called after each change. */
  onChange(listener: () => Promise<void> | void): void {
    this.#listeners.add(listener);
  }

  /** Makes anew what is due. Rejects if it can not be written down; nothing changes then. */
  async rotate(): Promise<void> {
    const { clock = systemClock, policy = () => standaloneRotation } = this.options;
    const before = this.#state ?? (await this.#read());
    const after = this.#rotated(before, policy(), clock.now());
    if (after.authority !== before.authority || after.bundle !== before.bundle) await this.#write(after);
    this.#state = after;
    const changed = Object.entries(after.leaves).some(([name, pair]) => pair !== before.leaves[name]);
    if (!changed && after.bundle === before.bundle) return;
    this.#credentials = new Map();
    // One that fails must not keep the others from what has changed.
    const told = await Promise.allSettled([...this.#listeners].map(async (listener) => listener()));
    const failed = told.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason as Error;
  }

  /** Rotates in time, until the signal aborts. What fails is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock = systemClock, logger } = this.options;
    const pause = (ms: number): Promise<boolean> =>
      sleep(clock, ms, signal).then(
        () => true,
        () => false,
      );
    let delay = 0;
    while (await pause(Math.min(Math.max(delay, this.nextAt - clock.now()), longestSleep))) {
      delay = 0;
      if (clock.now() < this.nextAt) continue;
      try {
        await this.rotate();
      } catch (error) {
        delay = longestSleep;
        logger.error({ err: error }, 'certificates could not be renewed; trying again in a minute');
      }
    }
  }

  get #current(): RotatedCertificates<string> {
    if (this.#state === undefined) throw new Error('identities are used before they are made');
    return this.#state;
  }

  /** People copy the administrator's credentials, so those live as long as the authority. */
  #rotated(before: Certificates<string>, policy: RotationPolicy, now: number): RotatedCertificates<string> {
    const parts = rotate(before, this.#templates.parts, policy, now);
    const long = { ...policy, leafLifetime: policy.authorityLifetime };
    const people = rotate({ ...parts, leaves: before.leaves }, this.#templates.people, long, now);
    return {
      ...parts,
      leaves: { ...parts.leaves, ...people.leaves },
      nextAt: Math.min(parts.nextAt, people.nextAt),
    };
  }

  async #read(): Promise<Certificates<string>> {
    return {
      authority: await readPair(this.#directory, authorityName),
      bundle: (await readIfExists(path.join(this.#directory, bundleFile))) ?? '',
      bundleChangedAt: 0,
      leaves: {},
    };
  }

  /** The bundle first: it may name an authority that signs nothing, but no authority may sign that it does not name. */
  async #write({ authority, bundle }: RotatedCertificates<string>): Promise<void> {
    await writeSecretFile(path.join(this.#directory, bundleFile), bundle);
    await writePair(this.#directory, authorityName, authority);
  }
}

interface Templates {
  readonly people: Readonly<Record<string, LeafTemplate>>;
  readonly parts: Readonly<Record<string, LeafTemplate>>;
}

function templatesFor({ bindAddress, nodes }: IdentitiesOptions): Templates {
  const client = (commonName: string, ...organizations: string[]): LeafTemplate => ({
    commonName,
    organizations,
    usages: ['client'],
  });
  const server = (commonName: string, dnsNames: string[]): LeafTemplate => ({
    commonName,
    dnsNames,
    ips: servedAddresses(bindAddress),
    usages: ['server'],
  });
  const services = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  const parts: [Identity, LeafTemplate][] = [
    ['apiserver', server('nativirt', ['localhost', 'nativirt', ...services])],
    ['apiserver-client', client(apiserverUser)],
    ['controllers', client(controllersUser)],
  ];
  for (const name of nodes) {
    const serverName = nodeAgentServerName(name);
    parts.push(
      [`node-client:${name}`, client(nodeUser(name), nodesGroup)],
      [`node-server:${name}`, server(serverName, [serverName])],
    );
  }
  return { people: { admin: client('admin', 'system:masters') }, parts: Object.fromEntries(parts) };
}

/** Writes `admin.kubeconfig` for this run's address and returns its path. */
export async function writeAdminKubeconfig(
  dataDirectory: string,
  identities: Identities,
  server: string,
): Promise<string> {
  const file = path.join(dataDirectory, 'admin.kubeconfig');
  const { ca, cert, key } = identities.credentials('admin');
  await writeSecretFile(file, kubeconfigFor({ server, ca, cert, key, namespace: 'default' }));
  return file;
}

function servedAddresses(bindAddress: string): string[] {
  const loopback = ['127.0.0.1', '::1'];
  return ['0.0.0.0', '::', ...loopback].includes(bindAddress) ? loopback : [...loopback, bindAddress];
}
