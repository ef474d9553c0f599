import type { KubeVirt } from '../../openapi/generated/types/kubevirt_v1.js';
import { age, column, defineResource, deprecatedV1alpha3 } from './define.js';

const definition = 'io.kubevirt.v1.KubeVirt';

export const kubeVirts = defineResource({
  group: 'kubevirt.io',
  kind: 'KubeVirt',
  plural: 'kubevirts',
  shortNames: ['kv', 'kvs'],
  categories: ['all'],
  versions: [{ name: 'v1', definition }, deprecatedV1alpha3(definition)],
  status: true,
  columns: [
    age,
    column('Phase', { description: 'How far the installation is.' }, ({ status }: KubeVirt) => status?.phase),
  ],
});
