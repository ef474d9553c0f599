import assert from 'node:assert/strict';
import test from 'node:test';
import type { DomainSpec, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { defaultConfiguration } from '../configuration.js';
import { computeResources, isGuaranteed } from './resources.js';
import type { AutomaticLimits } from './settings.js';

const instance = (domain: Omit<DomainSpec, 'devices'>): VirtualMachineInstance => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: {
    namespace: 'team',
    name: 'web',
    uid: '3f2a',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { domain: { devices: {}, memory: { guest: '1Gi' }, ...domain } },
});

const settings = (automaticLimits: AutomaticLimits, cpuAllocationRatio = 10) => ({
  launcherImage: 'launcher:1',
  imagePullSecrets: [],
  devicePlugins: true,
  configuration: { ...defaultConfiguration, developerConfiguration: { cpuAllocationRatio } },
  automaticLimits,
});

const limitsOf = (domain: Omit<DomainSpec, 'devices'>, automatic: AutomaticLimits) =>
  computeResources(instance(domain), settings(automatic)).limits ?? {};

const both = { cpu: true, memoryRatio: 2 };

test('an automatic limit is a core for each virtual processor, and never below the request', () => {
  assert.equal(limitsOf({}, { cpu: true }).cpu, '1');
  assert.equal(limitsOf({ cpu: { cores: 2, sockets: 2, threads: 2 } }, { cpu: true }).cpu, '8');
  const resources = { requests: { cpu: '2500m' } };
  assert.equal(limitsOf({ resources, cpu: { cores: 2 } }, { cpu: true }).cpu, '2500m');
  assert.equal(limitsOf({ resources }, { cpu: true }).cpu, '3');
});

test('the user’s own limits and those of dedicated processors stay', () => {
  const resources = { limits: { cpu: '3', memory: '2Gi' } };
  assert.deepEqual(
    limitsOf({ resources, cpu: { cores: 4 } }, both),
    limitsOf({ resources, cpu: { cores: 4 } }, { cpu: false }),
  );
  const cpu = { cores: 2, dedicatedCpuPlacement: true };
  assert.deepEqual(limitsOf({ cpu }, both), limitsOf({ cpu }, { cpu: false }));
  const half = { limits: { memory: '2Gi' } };
  assert.equal(limitsOf({ resources: half, cpu: { cores: 4 } }, both).cpu, '4');
});

test('limits that meet the requests make the pod Guaranteed', () => {
  const vmi = instance({ cpu: { cores: 2 } });
  assert.equal(isGuaranteed(vmi, settings({ cpu: true, memoryRatio: 1 }, 1)), true);
  assert.equal(isGuaranteed(vmi, settings(both, 1)), false);
});
