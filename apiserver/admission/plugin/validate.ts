/** Validation of a Plugin: its expressions can be evaluated, and the paths of its sockets are plain. */
import path from 'node:path';
import type { Plugin } from '../../../openapi/generated/types/kubevirt_plugin_v1alpha1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { sameJson } from '../../registry/equal.js';
import { FieldPath, invalid } from '../causes.js';
import { requireFeature } from '../configuration/require-feature.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission } from '../kind-rules.js';
import { checkCel, type CelType } from './cel/check.js';
import { domainEnvironment, nodeEnvironment, type CelEnvironment } from './cel/environment.js';
import { CelError } from './cel/tokens.js';

export function pluginValidation(): AdmissionPlugin {
  return kindAdmission<Plugin>({
    name: 'PluginValidation',
    group: 'plugin.kubevirt.io',
    resource: 'plugins',
    create(plugin, { configuration }) {
      requireFeature(configuration, 'Plugins', 'a Plugin');
      return causesOf(plugin);
    },
    update: (plugin, old) => (sameJson(plugin.spec, old.spec) ? [] : causesOf(plugin)),
  });
}

function causesOf({ spec }: Plugin): StatusCause[] {
  const at = FieldPath.of('spec');
  return [
    ...conditionCauses(spec.condition, at, domainEnvironment),
    ...(spec.domainHooks ?? []).flatMap(({ cel, condition, sidecar }, index) => {
      const place = at.child('domainHooks').index(index);
      return [
        ...celCauses(
          cel?.expression,
          place.child('cel', 'expression'),
          domainEnvironment,
          isDomain,
          'a Domain',
        ),
        ...conditionCauses(condition, place, domainEnvironment),
        ...socketCauses(sidecar?.socketPath, place.child('sidecar', 'socketPath')),
      ];
    }),
    ...(spec.nodeHooks ?? []).flatMap(({ condition }, index) =>
      conditionCauses(condition, at.child('nodeHooks').index(index), nodeEnvironment),
    ),
  ];
}

const isDomain = (type: CelType): boolean =>
  type === 'message Domain' || type === 'message libvirtxml.Domain';

function conditionCauses(
  text: string | undefined,
  at: FieldPath,
  environment: CelEnvironment,
): StatusCause[] {
  return celCauses(text, at.child('condition'), environment, (type) => type === 'bool', 'true or false');
}

/** An expression whose type is only known when it is evaluated is given the benefit of the doubt. */
function celCauses(
  text = '',
  at: FieldPath,
  environment: CelEnvironment,
  fits: (type: CelType) => boolean,
  wanted: string,
): StatusCause[] {
  if (text === '') return [];
  try {
    const type = checkCel(text, environment);
    if (type === 'unknown' || fits(type)) return [];
    return [invalid(at, `${JSON.stringify(text)} must give ${wanted}, and gives ${type}`)];
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return [
      invalid(
        at,
        `${JSON.stringify(text)} is no CEL expression: at character ${error.at + 1}, ${error.message}`,
      ),
    ];
  }
}

function socketCauses(socketPath: string | undefined, at: FieldPath): StatusCause[] {
  if (socketPath === undefined || path.posix.normalize(socketPath).replace(/(.)\/$/, '$1') === socketPath)
    return [];
  return [
    invalid(at, `${JSON.stringify(socketPath)} must be a plain path, without . or .. or doubled slashes`),
  ];
}
