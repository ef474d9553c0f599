/** A control plane with `nativirt apiserver` behind it, as a cluster's admin registers it. */
import path from 'node:path';
import { pino } from 'pino';
import { startApiserver, type Apiserver } from '../../../deploy/apiserver/apiserver.js';
import { parseApiserverOptions } from '../../../deploy/apiserver/options.js';
import { apiserverRules } from '../../../deploy/rbac/apiserver.js';
import { clusterRoleBindings, clusterRoles } from '../../../deploy/rbac/cluster-roles.js';
import { json, requestOf, type Answer, type RequestOptions } from '../../apiserver/test-server.js';
import { command, eventually, type CommandResult } from '../../e2e/harness.js';
import type { Assets } from './assets.js';
import { ControlPlane, serviceName, serviceNamespace } from './control-plane.js';

export interface ApiServiceStatus {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export type Store = 'level' | 'etcd';

export class KubernetesCluster {
  private constructor(
    private readonly assets: Assets,
    readonly plane: ControlPlane,
    readonly apiserver: Apiserver,
    readonly auditLog: string,
    /** The APIServices that lead to ours. */
    readonly apiServices: readonly string[],
  ) {}

  static async start(assets: Assets, store: Store): Promise<KubernetesCluster> {
    const plane = await ControlPlane.start(assets);
    let apiserver: Apiserver | undefined;
    try {
      const auditLog = path.join(plane.directory, 'audit.log');
      await grant(plane);
      apiserver = await startBehind(plane, store, auditLog);
      const groupVersions = await served(plane, apiserver);
      const cluster = new KubernetesCluster(assets, plane, apiserver, auditLog, groupVersions.map(nameOf));
      await cluster.#register(groupVersions);
      await plane.startControllers();
      return cluster;
    } catch (error) {
      await apiserver?.stop();
      await plane.stop();
      throw error;
    }
  }

  get port(): number {
    return this.plane.port;
  }

  get ca(): string {
    return this.plane.authority.cert;
  }

  async close(): Promise<void> {
    await this.apiserver.stop();
    await this.plane.stop();
  }

  /** As the user of that token. */
  request(method: string, at: string, body?: object, token = 'admin'): Promise<Answer> {
    return requestOf(this)(method, at, {
      token,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  }

  /** Of nobody if there is no token. */
  requestWith(method: string, at: string, options: RequestOptions): Promise<Answer> {
    return requestOf(this)(method, at, options);
  }

  /** The answer to a request that must succeed. */
  async must(method: string, at: string, body?: object): Promise<Answer> {
    const answer = await this.request(method, at, body);
    if (answer.status > 299) throw new Error(`${method} ${at}: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** A merge patch that must succeed. */
  async patch(at: string, body: object): Promise<void> {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const answer = await this.requestWith('PATCH', at, {
      token: 'admin',
      headers,
      body: JSON.stringify(body),
    });
    if (answer.status > 299) throw new Error(`PATCH ${at}: ${answer.status} ${answer.text}`);
  }

  kubectl(args: readonly string[], input?: object, token = 'admin'): Promise<CommandResult> {
    return command(
      this.assets.kubectl,
      [
        ...[
          '--server',
          `https://127.0.0.1:${this.port}`,
          '--certificate-authority',
          this.plane.authorityFile,
        ],
        ...['--token', token, '--cache-dir', path.join(this.plane.directory, 'kubectl-cache'), ...args],
      ],
      {
        // Nobody's own kubeconfig shall count.
        env: { ...process.env, KUBECONFIG: '', HOME: this.plane.directory },
        ...(input === undefined ? {} : { input: JSON.stringify(input) }),
      },
    );
  }

  /** The standard output of a kubectl that must succeed. */
  async get(args: readonly string[], input?: object): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  async json<T>(args: readonly string[]): Promise<T> {
    return JSON.parse(await this.get([...args, '-o', 'json'])) as T;
  }

  async createNamespace(name: string): Promise<void> {
    await this.must('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
  }

  async #register(groupVersions: readonly GroupVersion[]): Promise<void> {
    const { port } = this.apiserver;
    await this.createNamespace(serviceNamespace);
    await this.get(['apply', '-f', '-'], {
      apiVersion: 'v1',
      kind: 'List',
      items: [
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: serviceName, namespace: serviceNamespace },
          spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
        },
        ...groupVersions.map((groupVersion) => this.#apiService(groupVersion)),
        ...roles(),
      ],
    });
    await eventually(
      'all APIServices are available',
      async () => (await this.unavailable()).length === 0,
      120,
    );
  }

  /** Names of the APIServices of ours that kube-apiserver does not pass requests on to. */
  async unavailable(): Promise<readonly string[]> {
    const { items } = await this.json<{ items: ApiServiceStatus[] }>(['get', 'apiservices']);
    const available = new Set(
      items.flatMap(({ metadata, status }) =>
        status?.conditions?.some((each) => each.type === 'Available' && each.status === 'True') === true
          ? [metadata.name]
          : [],
      ),
    );
    return this.apiServices.filter((name) => !available.has(name));
  }

  #apiService(groupVersion: GroupVersion): object {
    const { group, version, preferred } = groupVersion;
    return {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: nameOf(groupVersion) },
      spec: {
        group,
        version,
        groupPriorityMinimum: 1000,
        versionPriority: preferred ? 100 : 50,
        service: { namespace: serviceNamespace, name: serviceName, port: this.apiserver.port },
        caBundle: Buffer.from(this.ca).toString('base64'),
      },
    };
  }
}

/** As whom our server is known. */
export const apiserverAccount = `system:serviceaccount:${serviceNamespace}:${serviceName}`;

interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly preferred: boolean;
}

const nameOf = ({ group, version }: GroupVersion): string => `${version}.${group}`;

async function startBehind(plane: ControlPlane, store: Store, auditLog: string): Promise<Apiserver> {
  const { directory } = plane;
  const files = async (name: string, pair: { cert: string; key: string }): Promise<[string, string]> => [
    await plane.file(`${name}.crt`, pair.cert),
    await plane.file(`${name}.key`, pair.key),
  ];
  const [servingCert, servingKey] = await files('serving', plane.issue(serviceName, 'server'));
  const [agentCert, agentKey] = await files('agents', plane.issue('nativirt:apiserver', 'client'));
  const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };
  const options = parseApiserverOptions([
    ...['--bind-address', '127.0.0.1', '--secure-port', '0'],
    ...['--tls-cert-file', servingCert, '--tls-private-key-file', servingKey],
    ...['--kubeconfig', await plane.file('kubeconfig', plane.kubeconfig(apiserverAccount))],
    ...['--node-agent-certificate-authority', plane.authorityFile],
    ...['--node-agent-client-certificate', agentCert, '--node-agent-client-key', agentKey],
    ...['--audit-policy-file', await plane.file('audit-policy.json', JSON.stringify(policy))],
    ...['--audit-log-path', auditLog],
    ...(store === 'etcd'
      ? ['--etcd-servers', plane.etcdEndpoint]
      : ['--data-dir', path.join(directory, 'store')]),
  ]);
  if (options === undefined) throw new Error('no flag asks for help');
  const apiserver = await startApiserver(options, pino({ level: process.env.LOG_LEVEL ?? 'silent' }));
  await apiserver.ready;
  return apiserver;
}

/** No more than an installation gives. */
async function grant(plane: ControlPlane): Promise<void> {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const apiGroup = 'rbac.authorization.k8s.io';
  const rbac = `/apis/${apiVersion}`;
  const subjects = [{ apiGroup, kind: 'User', name: apiserverAccount }];
  const binding = (kind: string, name: string): object => ({
    metadata: { name: `${serviceName}-${name}` },
    roleRef: { apiGroup, kind, name },
    subjects,
  });
  const objects: readonly (readonly [string, object])[] = [
    [`${rbac}/clusterroles`, { metadata: { name: serviceName }, rules: apiserverRules }],
    [`${rbac}/clusterrolebindings`, binding('ClusterRole', serviceName)],
    [`${rbac}/clusterrolebindings`, binding('ClusterRole', 'system:auth-delegator')],
    [
      `${rbac}/namespaces/kube-system/rolebindings`,
      binding('Role', 'extension-apiserver-authentication-reader'),
    ],
  ];
  const request = requestOf({ port: plane.port, ca: plane.authority.cert });
  for (const [at, body] of objects) {
    const headers = { 'content-type': 'application/json' };
    const answer = await request('POST', at, { token: 'admin', headers, body: JSON.stringify(body) });
    if (answer.status > 299) throw new Error(`POST ${at}: ${answer.status} ${answer.text}`);
  }
}

/** What the server says that it serves. */
async function served(plane: ControlPlane, { port }: Apiserver): Promise<readonly GroupVersion[]> {
  const answer = await requestOf({ port, ca: plane.authority.cert })('GET', '/apis', { token: 'admin' });
  const { groups } = json<{
    readonly groups: readonly {
      readonly name: string;
      readonly versions: readonly { readonly version: string }[];
      readonly preferredVersion: { readonly version: string };
    }[];
  }>(answer);
  return groups
    .filter(({ name }) => name.endsWith('kubevirt.io'))
    .flatMap(({ name: group, versions, preferredVersion }) =>
      versions.map(({ version }) => ({ group, version, preferred: version === preferredVersion.version })),
    );
}

/** KubeVirt's own: the rest a cluster has itself. */
function roles(): readonly object[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const apiGroup = 'rbac.authorization.k8s.io';
  const ours = (name: string): boolean => name.startsWith('kubevirt.io:');
  return [
    ...clusterRoles
      .filter(({ name }) => ours(name))
      .map(({ name, labels, rules }) => ({
        apiVersion,
        kind: 'ClusterRole',
        metadata: { name, labels },
        rules,
      })),
    ...clusterRoleBindings
      .filter(({ role }) => ours(role))
      .map(({ role, subjects }) => ({
        apiVersion,
        kind: 'ClusterRoleBinding',
        metadata: { name: role },
        roleRef: { apiGroup, kind: 'ClusterRole', name: role },
        subjects: subjects.map((subject) => ({ apiGroup, ...subject })),
      })),
  ];
}
