/** Objects that the suites create. */

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [member: string]: unknown };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A virtual machine that nothing starts. */
export function halted(name: string, spec: object = {}, metadata: object = {}): Manifest {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { ...metadata, name },
    spec: { runStrategy: 'Halted', ...spec, template: { spec: { domain: { devices: {} } } } },
  };
}

/** What nothing holds up when it is deleted: it has no finalizer of ours. */
export function preference(name: string, metadata: object = {}): Manifest {
  return {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachinePreference',
    metadata: { ...metadata, name },
    spec: {},
  };
}

export const preferencesIn = (namespace: string): string =>
  `/apis/instancetype.kubevirt.io/v1beta1/namespaces/${namespace}/virtualmachinepreferences`;
