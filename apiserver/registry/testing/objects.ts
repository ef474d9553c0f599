/** Objects and answers that the tests of the registry share. */
import type { KubernetesObject, Status } from '../../../openapi/meta.js';
import { startRegistry, type Answer, type Fixture } from './fixture.js';

export const machines = '/apis/kubevirt.io/v1/namespaces/n/virtualmachines';
export const instancetypes =
  '/apis/instancetype.kubevirt.io/v1beta1/namespaces/n/virtualmachineinstancetypes';
export const mergePatch = { 'content-type': 'application/merge-patch+json' };
export const jsonPatch = { 'content-type': 'application/json-patch+json' };
export const applyPatch = { 'content-type': 'application/apply-patch+yaml' };

export interface Machine extends KubernetesObject {
  spec: { runStrategy?: string; running?: boolean; template: unknown };
  status?: { printableStatus?: string; ready?: boolean };
}

export function machine(name: string, metadata: object = {}): object {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name, ...metadata },
    spec: {
      runStrategy: 'Halted',
      template: { spec: { domain: { devices: {}, memory: { guest: '128Mi' } } } },
    },
  };
}

export function instancetype(name: string, metadata: object = {}): object {
  return {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachineInstancetype',
    metadata: { name, ...metadata },
    spec: { cpu: { guest: 1 }, memory: { guest: '128Mi' } },
  };
}

/** A registry with the namespace `n`. */
export async function startWithNamespace(
  context: { after(callback: () => Promise<void>): void },
  options: Parameters<typeof startRegistry>[0] = {},
): Promise<Fixture> {
  const fixture = await startRegistry(options);
  context.after(() => fixture.close());
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } };
  await fixture.request('POST', '/api/v1/namespaces', { body });
  return fixture;
}

export const asMachine = ({ body }: Answer): Machine => body as Machine;
export const asStatus = ({ body }: Answer): Status => body as Status;
/** `reason field` of each cause. */
export const causes = (answer: Answer): string[] =>
  (asStatus(answer).details?.causes ?? []).map(({ reason, field }) => `${reason ?? ''} ${field ?? ''}`);
