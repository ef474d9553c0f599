import { launcherPodDefaults } from '../../apiserver/admission/launcherpod/mutate.js';
import { existing, testMutations } from './kind-vectors.js';

/** The VMI of the recorded pods: it shares one directory of its pod. */
const vmi = (containerPath: Readonly<Record<string, unknown>>) =>
  existing('VirtualMachineInstance', 'test-vmi', {
    spec: {
      domain: { devices: { filesystems: [{ name: 'token-volume', virtiofs: {} }] } },
      volumes: [{ name: 'token-volume', containerPath }],
    },
  });
const shared = vmi({ path: '/var/run/secrets/token', readOnly: true });

testMutations('virt-launcher-pod-mutate', {
  plugin: launcherPodDefaults(),
  supply: (_row, index) => ({
    // Of two pods that are alike, one was recorded with a volume that may be written.
    existing: [index === 3 ? vmi({ path: '/var/run/secrets/token' }) : shared],
  }),
});
