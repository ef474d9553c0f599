/** A launcher of its own for each test of a file, with the fake QEMU. */
import { after, before } from 'node:test';
import {
  bundleLauncher,
  LauncherProcess,
  type LauncherConnection,
  type LauncherProcessOptions,
} from './launcher-process.js';

type Body = (launcher: LauncherProcess, client: LauncherConnection, bundle: string) => Promise<void>;

/** Bundles the launcher once for the file that calls it; `withLauncher` runs a test's body with a client that subscribes. */
export function launcherTests() {
  let bundle = '';
  let removeBundle = () => {};
  before(async () => {
    ({ bundle, remove: removeBundle } = await bundleLauncher());
  });
  after(() => removeBundle());
  return {
    withLauncher:
      (body: Body, options: Omit<LauncherProcessOptions, 'bundle'> = {}) =>
      async () => {
        const launcher = new LauncherProcess({ bundle, ...options });
        try {
          const client = await launcher.connect();
          await client.call('subscribe');
          await body(launcher, client, bundle);
        } finally {
          await launcher.remove();
        }
      },
  };
}
