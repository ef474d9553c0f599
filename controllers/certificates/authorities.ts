/** Which authorities an installation has, and for whom each of them signs. */
import type { LeafTemplate } from '../../apiserver/pki/authority.js';
import { defaultRotation, type RotationPolicy } from '../../apiserver/pki/rotation.js';
import { apiserverService, certificateSecrets, etcdService } from '../../openapi/certificates.js';
import { apiserverUser, nodeAgentServerName } from '../../openapi/node-agent.js';

export interface Authority {
  /** The Secret that holds it. */
  readonly secret: string;
  readonly policy: RotationPolicy;
  /** By the Secret that holds each. */
  readonly leaves: Readonly<Record<string, LeafTemplate>>;
}

const day = 24 * 60 * 60 * 1000;

/** The one whose bundle goes into the ConfigMap and into what the cluster calls. */
export function componentAuthority(namespace: string): Authority {
  const dnsNames = serviceNames(apiserverService, namespace);
  return {
    secret: certificateSecrets.authority,
    policy: defaultRotation,
    leaves: {
      [certificateSecrets.apiserver]: { commonName: apiserverService, dnsNames, usages: ['server'] },
      [certificateSecrets.apiserverClient]: { commonName: apiserverUser, usages: ['client'] },
      [certificateSecrets.nodeAgent]: {
        commonName: 'nativirt-node-agent',
        dnsNames: [nodeAgentServerName('*')],
        usages: ['server'],
      },
    },
  };
}

/** etcd follows its certificate, and reads the authorities only when it starts: those must not change under it. */
export function etcdAuthority(namespace: string): Authority {
  const services = serviceNames(etcdService, namespace);
  return {
    secret: certificateSecrets.etcdAuthority,
    policy: { ...defaultRotation, authorityLifetime: 3650 * day, leafLifetime: 90 * day },
    leaves: {
      [certificateSecrets.etcd]: {
        commonName: etcdService,
        dnsNames: ['localhost', ...services, ...services.map((service) => `*.${service}`)],
        ips: ['127.0.0.1', '::1'],
        // Members are each other's clients.
        usages: ['server', 'client'],
      },
      [certificateSecrets.etcdClient]: { commonName: apiserverService, usages: ['client'] },
    },
  };
}

function serviceNames(service: string, namespace: string): string[] {
  const base = `${service}.${namespace}`;
  return [service, base, `${base}.svc`, `${base}.svc.cluster.local`];
}
