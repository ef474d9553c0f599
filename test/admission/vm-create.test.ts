/** VMs through the whole write path, where schema, defaults and rules meet. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { startAdmission } from './server.js';

const template = { spec: { domain: { devices: {} } } };

test('a template may leave its metadata null, a list may not hold nothing', async (t) => {
  const server = await startAdmission();
  t.after(() => server.close());
  const create = (members: object) =>
    server.tryKind('VirtualMachine', { name: 'vm' }, { runStrategy: 'Halted', template, ...members });
  assert.equal((await create({ template: { ...template, metadata: null } })).status, 201);
  const holed = await create({ dataVolumeTemplates: [null] });
  assert.equal(holed.status, 422);
  assert.equal(holed.causes[0]?.field, 'spec.dataVolumeTemplates[0]');
});

test('faults of the template have their place in the VM', async (t) => {
  const server = await startAdmission();
  t.after(() => server.close());
  const disks = [{ name: 'lost', disk: { bus: 'virtioo' } }];
  const spec = { domain: { cpu: { cores: -1 }, devices: { disks } } };
  const { causes } = await server.tryKind(
    'VirtualMachine',
    { name: 'vm' },
    { running: true, template: { spec } },
  );
  assert.deepEqual(causes.map(({ field }) => field).sort(), [
    'spec.template.spec.domain.cpu.cores',
    'spec.template.spec.domain.devices.disks[0].disk.bus',
    'spec.template.spec.domain.devices.disks[0].name',
  ]);
  assert.match(causes.find(({ field }) => field?.endsWith('bus'))?.message ?? '', /did you mean "virtio"/);
});
