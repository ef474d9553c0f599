/**
 * States that a VM only passes through. A start or a stop that is done in a moment is told once, by its end; one that takes longer is
 * told as soon as that shows.
 */
import { isDeepStrictEqual } from 'node:util';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStatus,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { conditionTypes } from '../constants.js';
import { isConditionTrue } from '../runtime/conditions.js';

/** Milliseconds. */
export const passingPatience = 2000;
/** Where the word for it is there already, and only details of it are new: those come with its end, unless that takes so long. */
export const detailPatience = 60_000;

/** For how many milliseconds a state that is passed through need not be told. */
export const patienceWith = ({ status }: VirtualMachine, wanted: VirtualMachineStatus): number =>
  status?.printableStatus === wanted.printableStatus ? detailPatience : passingPatience;

/** What names the state: an instance that starts, or that stops. */
export const passingKey = ({ metadata }: VirtualMachineInstance, starts: boolean): string =>
  `${metadata.uid}/${starts ? 'start' : 'stop'}`;

/** Somebody acts on these, if only this controller when it has been started anew. */
const acted = [
  'stateChangeRequests',
  'startFailure',
  'instancetypeRef',
  'preferenceRef',
  'volumeRequests',
] as const satisfies readonly (keyof VirtualMachineStatus)[];

/** `wanted` says no more than that the VM is on its way, and nobody would act on it. */
export function isPassing({ status: before = {} }: VirtualMachine, wanted: VirtualMachineStatus): boolean {
  const { printableStatus, runStrategy } = wanted;
  const starts = printableStatus === 'Starting' && runStrategy === 'Always' && !wasStarted(before);
  const stops = printableStatus === 'Stopping' && runStrategy === 'Halted';
  return (
    (starts || stops) &&
    !isConditionTrue(wanted.conditions, conditionTypes.failure) &&
    !isConditionTrue(before.conditions, conditionTypes.failure) &&
    acted.every((field) => isDeepStrictEqual(before[field], wanted[field]))
  );
}

/** Once it is told that there is an instance, what changes is worth telling too. */
const wasStarted = ({ created }: VirtualMachineStatus): boolean => created === true;
