import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { Client, credentials, type ClientReadableStream } from '@grpc/grpc-js';
import { systemClock } from '../../../controllers/runtime/clock.js';
import { SilentLogger } from '../../../controllers/runtime/testing/silent-logger.js';
import { DevicePlugin } from './device-plugin.js';
import { kernelDevices, sharedDevice } from './device-source.js';
import { kubeletSocket, type Device, type RegisterRequest } from './protocol.js';
import { FakeKubelet } from './testing/fake-kubelet.js';
import { listAndWatch, pluginMethod, type AllocateResponse } from './testing/kubelet-api.js';

function setUp(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-plugins-'));
  const kubelet = new FakeKubelet(directory);
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const clients: Client[] = [];
  const alive = setInterval(() => undefined, 60_000);
  t.after(async () => {
    stop.abort();
    for (const client of clients) client.close();
    await Promise.all(running);
    kubelet.stop();
    clearInterval(alive);
    rmSync(directory, { recursive: true, force: true });
  });
  const options = { directory, clock: systemClock, logger: new SilentLogger(), random: Math.random };
  const start = (source: ConstructorParameters<typeof DevicePlugin>[0]) =>
    void running.push(new DevicePlugin(source, options).run(stop.signal));
  const dial = ({ endpoint }: RegisterRequest) => {
    const client = new Client(`unix://${join(directory, endpoint)}`, credentials.createInsecure());
    clients.push(client);
    return client;
  };
  return { kubelet, start, dial, directory, stop, running };
}

function allocate(client: Client, ids: readonly string[]): Promise<AllocateResponse> {
  const { path, requestSerialize, responseDeserialize } = pluginMethod('Allocate');
  const deserialize = responseDeserialize as (bytes: Buffer) => AllocateResponse;
  const request = { container_requests: [{ devices_ids: ids }] };
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, deserialize, request, (error, value) => {
      if (error) reject(error);
      else if (value) resolve(value);
    });
  });
}

function nextDevices(stream: ClientReadableStream<{ devices: Device[] }>): Promise<Device[]> {
  return new Promise((resolve, reject) => {
    stream.once('data', ({ devices }: { devices: Device[] }) => resolve(devices)).on('error', reject);
  });
}

test('registers, lists its devices, and gives the node’s device to a container', async (t) => {
  const { kubelet, start, dial } = setUp(t);
  await kubelet.start();
  start(sharedDevice('devices.kubevirt.io/kvm', '/dev/null', () => 1000));
  const registration = await kubelet.registration();
  assert.equal(registration.version, 'v1beta1');
  assert.equal(registration.resource_name, 'devices.kubevirt.io/kvm');
  const client = dial(registration);
  const devices = await nextDevices(listAndWatch(client));
  assert.equal(devices.length, 1000);
  assert.ok(devices.every(({ health }) => health === 'Healthy'));
  assert.equal(new Set(devices.map(({ ID }) => ID)).size, 1000);
  const { container_responses: responses } = await allocate(client, [devices[0]?.ID ?? '']);
  assert.deepEqual(responses[0]?.devices, [
    { container_path: '/dev/null', host_path: '/dev/null', permissions: 'mrw' },
  ]);
  await assert.rejects(allocate(client, ['strange']), /no device "strange"/);
});

test('a device that the node lacks is there, but not healthy', async (t) => {
  const { kubelet, start, dial, directory } = setUp(t);
  await kubelet.start();
  const [kvm] = kernelDevices(() => 1000, directory);
  assert.ok(kvm);
  start(kvm);
  const devices = await nextDevices(listAndWatch(dial(await kubelet.registration())));
  assert.ok(devices.every(({ health }) => health === 'Unhealthy'));
});

test('as many containers as configured may share a device, from the next look on', async () => {
  let shares = 3;
  const source = sharedDevice('devices.kubevirt.io/kvm', '/dev/null', () => shares);
  const before = await source.list();
  assert.equal(before.length, 3);
  assert.equal(await source.list(), before);
  shares = 1;
  assert.deepEqual(await source.list(), [{ ID: 'null0', health: 'Healthy' }]);
  const { devices } = await source.allocate(['null2']);
  assert.equal(devices.length, 1, 'the kubelet has not heard of the change');
});

test('waits for a kubelet, and registers anew with each one that starts', async (t) => {
  const { kubelet, start, dial } = setUp(t);
  start(sharedDevice('devices.kubevirt.io/tun', '/dev/null', () => 1000));
  for (let life = 0; life < 3; life++) {
    await kubelet.start();
    const registration = await kubelet.registration();
    assert.equal(registration.resource_name, 'devices.kubevirt.io/tun');
    assert.equal((await nextDevices(listAndWatch(dial(registration)))).length, 1000);
  }
});

test('leaves nothing behind when it stops', async (t) => {
  const { kubelet, start, directory, stop, running } = setUp(t);
  await kubelet.start();
  start(sharedDevice('devices.kubevirt.io/tun', '/dev/null', () => 1000));
  await kubelet.registration();
  stop.abort();
  await Promise.all(running);
  assert.deepEqual(readdirSync(directory), [kubeletSocket]);
});
