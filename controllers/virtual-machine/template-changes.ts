/** What has changed in a VM since its instance was started, and which of it a running instance can take over. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type {
  Interface,
  KubeVirtConfiguration,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
  VirtualMachineSpec,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { createMergePatch } from '../../openapi/merge-patch.js';

export type RolloutStrategy = NonNullable<KubeVirtConfiguration['vmRolloutStrategy']>;

/** The fields that have changed and that only a new instance can have: `spec.template.spec.domain.cpu.cores`. */
export function changesForRestart(
  started: VirtualMachineSpec,
  now: VirtualMachineSpec,
  strategy: RolloutStrategy,
): string[] {
  const [before, after] = [started, now].map(({ template }) => fixedPart(template.spec ?? bare, strategy));
  return [
    ...(['instancetype', 'preference'] as const)
      .filter((field) => !isDeepStrictEqual(started[field], now[field]))
      .map((field) => `spec.${field}`),
    ...changedPaths({ ...before }, { ...after })
      .map((path) => `spec.template.spec.${path}`)
      .sort(),
  ];
}

const bare: VirtualMachineInstanceSpec = { domain: { devices: {} } };

/** Without what a running instance can take over. */
function fixedPart(spec: VirtualMachineInstanceSpec, strategy: RolloutStrategy): VirtualMachineInstanceSpec {
  const fixed = { ...spec };
  if (strategy === 'LiveUpdate') {
    delete fixed.affinity;
    delete fixed.nodeSelector;
    delete fixed.tolerations;
  }
  const interfaces = spec.domain.devices.interfaces?.map(withoutLink);
  if (interfaces === undefined) return fixed;
  return { ...fixed, domain: { ...spec.domain, devices: { ...spec.domain.devices, interfaces } } };
}

/** Whether it is there, and how a host device behaves, is more than a cable. */
function withoutLink(entry: Interface): Interface {
  if (!hasLink(entry)) return entry;
  const rest = { ...entry };
  delete rest.state;
  return rest;
}

const hasLink = ({ state, sriov }: Interface): boolean => state !== 'absent' && sriov === undefined;

function changedPaths(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  const leaves = (value: unknown, path: readonly string[]): string[] =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
      ? Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...path, name]))
      : [path.join('.')];
  const patch = createMergePatch(before, after);
  return Object.keys(patch).length === 0 ? [] : leaves(patch, []);
}

/** In force with the next launcher: that of a migration. */
const schedulingFields = [
  'affinity',
  'nodeSelector',
  'tolerations',
] as const satisfies readonly (keyof VirtualMachineInstanceSpec)[];

type Operation =
  | { readonly op: 'test' | 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** A JSON patch that brings to the instance what it can take over while it runs. Empty if it has all of it. */
export function livePatch(
  { spec }: VirtualMachineInstance,
  wanted: VirtualMachineInstanceSpec,
  strategy: RolloutStrategy,
): readonly Operation[] {
  return [
    ...linkOperations(spec.domain.devices.interfaces ?? [], wanted.domain.devices.interfaces ?? []),
    ...(strategy === 'LiveUpdate'
      ? schedulingFields.flatMap((field) => change(`/spec/${field}`, spec[field], wanted[field]))
      : []),
  ];
}

function linkOperations(present: readonly Interface[], wanted: readonly Interface[]): Operation[] {
  return present.flatMap((entry, index) => {
    const other = wanted.find(({ name }) => name === entry.name);
    if (other === undefined || !hasLink(entry) || !hasLink(other)) return [];
    const path = `/spec/domain/devices/interfaces/${index}`;
    const operations = change(`${path}/state`, entry.state, other.state);
    return operations.length === 0
      ? []
      : [{ op: 'test', path: `${path}/name`, value: entry.name }, ...operations];
  });
}

/** Refused if the field is no longer as it was. */
function change(path: string, before: unknown, after: unknown): Operation[] {
  if (isDeepStrictEqual(before, after)) return [];
  const unchanged: Operation[] = before === undefined ? [] : [{ op: 'test', path, value: before }];
  return [...unchanged, after === undefined ? { op: 'remove', path } : { op: 'add', path, value: after }];
}
