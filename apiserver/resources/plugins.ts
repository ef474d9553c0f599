import { defineResource, versions } from './define.js';

export const plugins = defineResource({
  group: 'plugin.kubevirt.io',
  kind: 'Plugin',
  plural: 'plugins',
  namespaced: false,
  versions: versions('io.kubevirt.plugin.v1alpha1.Plugin', 'v1alpha1'),
  status: true,
});
