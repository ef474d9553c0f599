/** CPU and memory requests and limits, guest memory, huge pages. */
import type { Quantity } from '../../../../openapi/meta.js';
import type { ResourceRequirements } from '../../../../openapi/generated/types/kubevirt_v1.js';
import { compareQuantities, isQuantity, parseQuantity, QuantityError } from '../../../../openapi/quantity.js';
import { invalid } from '../../causes.js';
import type { SpecRule } from './rule.js';

/** As nano units; zero for what is absent or no quantity (its schema refuses that). */
function nanosOf(quantity: Quantity | undefined): bigint {
  if (quantity === undefined) return 0n;
  try {
    return parseQuantity(quantity).nanos;
  } catch (error) {
    if (error instanceof QuantityError) return 0n;
    throw error;
  }
}

export const requested = (resources: ResourceRequirements | undefined, name: 'cpu' | 'memory'): bigint =>
  nanosOf(resources?.requests?.[name]);
export const limited = (resources: ResourceRequirements | undefined, name: 'cpu' | 'memory'): bigint =>
  nanosOf(resources?.limits?.[name]);
export const guestMemory = (guest: Quantity | undefined): bigint => nanosOf(guest);

const smallestMemory = '1M';

export const memoryResources: SpecRule = ({ spec, at }) => {
  const { resources } = spec.domain;
  const [request, limit] = [resources?.requests?.['memory'], resources?.limits?.['memory']];
  const field = at.child('domain', 'resources');
  const causes = [];
  if (nanosOf(request) < 0n) {
    causes.push(
      invalid(
        field.child('requests', 'memory'),
        `${request} is negative: must be at least ${smallestMemory}`,
      ),
    );
  } else if (
    request !== undefined &&
    nanosOf(request) > 0n &&
    compareQuantities(request, smallestMemory) < 0
  ) {
    causes.push(
      invalid(
        field.child('requests', 'memory'),
        `${request} is too little: must be at least ${smallestMemory}`,
      ),
    );
  }
  if (nanosOf(limit) < 0n) causes.push(invalid(field.child('limits', 'memory'), `${limit} is negative`));
  if (nanosOf(limit) > 0n && nanosOf(request) > nanosOf(limit)) {
    causes.push(invalid(field.child('requests', 'memory'), `${request} is greater than the limit ${limit}`));
  }
  return causes;
};

export const cpuResources: SpecRule = ({ spec, at }) => {
  const { resources } = spec.domain;
  const [request, limit] = [resources?.requests?.['cpu'], resources?.limits?.['cpu']];
  const field = at.child('domain', 'resources');
  const causes = [];
  if (nanosOf(request) < 0n) causes.push(invalid(field.child('requests', 'cpu'), `${request} is negative`));
  if (nanosOf(limit) < 0n) causes.push(invalid(field.child('limits', 'cpu'), `${limit} is negative`));
  if (nanosOf(limit) > 0n && nanosOf(request) > nanosOf(limit)) {
    causes.push(invalid(field.child('requests', 'cpu'), `${request} is greater than the limit ${limit}`));
  }
  return causes;
};

export const hugepages: SpecRule = ({ spec, at }) => {
  const { memory, resources } = spec.domain;
  if (memory?.hugepages === undefined) return [];
  const { pageSize = '' } = memory.hugepages;
  const field = at.child('domain', 'memory', 'hugepages', 'pageSize');
  if (!isQuantity(pageSize) || nanosOf(pageSize) <= 0n) {
    return [
      invalid(field, `${JSON.stringify(pageSize)} is no page size: must be a quantity such as 2Mi or 1Gi`),
    ];
  }
  const sizes = [resources?.requests?.['memory'], memory.guest, resources?.limits?.['memory']];
  const used = sizes.find((size) => nanosOf(size) !== 0n);
  if (used === undefined) return [];
  const request = at.child('domain', 'resources', 'requests', 'memory');
  if (nanosOf(used) < nanosOf(pageSize))
    return [invalid(request, `${used} is less than one page of ${pageSize}`)];
  if (nanosOf(used) % nanosOf(pageSize) !== 0n) {
    return [invalid(request, `${used} is not a multiple of the page size ${pageSize}`)];
  }
  return [];
};

/** With live updates memory may grow beyond the limit of the moment, so only staged roll-outs compare the two. */
export const guestWithinLimit: SpecRule = ({ spec, at, configuration }) => {
  const { memory, resources } = spec.domain;
  if (configuration.vmRolloutStrategy === 'LiveUpdate' || memory?.guest === undefined) return [];
  const limit = limited(resources, 'memory');
  if (limit === 0n || guestMemory(memory.guest) <= limit) return [];
  return [
    invalid(
      at.child('domain', 'memory', 'guest'),
      `${memory.guest} is greater than the memory limit ${resources?.limits?.['memory']}`,
    ),
  ];
};
