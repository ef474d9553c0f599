import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import type { KubeVirt } from '../../openapi/generated/types/kubevirt_v1.js';
import { startNativeServer } from '../../test/apiserver/native-server.js';
import { verbosityOf } from '../logging/verbosity.js';

const user = { name: 'admin', groups: ['system:masters'], extra: {} };

test('the API server logs as much as the KubeVirt object says, from then on', async (t) => {
  const logger = pino({ level: 'error' }, { write: () => undefined });
  const set = verbosityOf(logger);
  let changed: () => void = () => undefined;
  const change = () => new Promise<void>((resolve) => (changed = resolve));
  const server = await startNativeServer({
    logger,
    setVerbosity: (verbosity) => {
      set(verbosity);
      changed();
    },
  });
  t.after(() => server.close());
  const { registry } = server;
  const kubeVirts = { group: 'kubevirt.io', resource: 'kubevirts', namespace: 'default' };
  const created = change();
  await registry.create<KubeVirt>(
    kubeVirts,
    {
      apiVersion: 'kubevirt.io/v1',
      kind: 'KubeVirt',
      metadata: { name: 'kubevirt' },
      spec: {
        configuration: { developerConfiguration: { logVerbosity: { virtAPI: 4, virtController: 9 } } },
      },
    },
    { user },
  );
  await created;
  assert.equal(logger.level, 'debug');
  const deleted = change();
  await registry.delete({ ...kubeVirts, name: 'kubevirt' }, {}, { user });
  await deleted;
  assert.equal(logger.level, 'error');
});
