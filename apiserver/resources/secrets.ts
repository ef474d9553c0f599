import type { Secret } from '../../openapi/generated/types/core_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { age, column, defineCoreResource, field, versions } from './define.js';
import { frozenCauses, immutableField } from './immutable.js';

/** The registry gives a kind's functions objects of that kind only. */
const asSecret = (object: KubernetesObject): Secret => object;

const typeIsFixed = immutableField('type', ({ type }: Secret) => type);

/** Moves what was written as text to where secrets keep it. */
function encodeStringData(secret: Secret): void {
  const { stringData } = secret;
  delete secret.stringData;
  if (stringData === undefined) return;
  const encoded = Object.entries(stringData).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  secret.data = { ...secret.data, ...(Object.fromEntries(encoded) as Record<string, string>) };
}

export const secrets = defineCoreResource({
  group: '',
  kind: 'Secret',
  plural: 'secrets',
  versions: versions('io.k8s.api.core.v1.Secret', 'v1'),
  columns: [
    column('Type', { description: 'What the secret is for.' }, ({ type }: Secret) => type),
    column(
      'Data',
      { type: 'integer', description: 'How many entries it has.' },
      ({ data }: Secret) => Object.keys(data ?? {}).length,
    ),
    age,
  ],
  selectableFields: { type: field(({ type }: Secret) => type) },
  strategy: {
    prepareForCreate(object) {
      const secret = asSecret(object);
      secret.type ??= 'Opaque';
      encodeStringData(secret);
    },
    prepareForUpdate(object, old) {
      const secret = asSecret(object);
      const { type } = asSecret(old);
      if (type !== undefined) secret.type ??= type;
      encodeStringData(secret);
    },
    validate: (object, old) => [...typeIsFixed(object, old), ...frozenCauses(object, old, ['data'])],
  },
});
