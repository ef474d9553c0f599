/** Random specs: of the schema's shape, and valid ones with faults. */
import fc from 'fast-check';
import { loadDefinitions } from '../../openapi/definitions.js';
import { quantityName } from '../../openapi/structural/nodes.js';
import type { Schema } from '../../openapi/schema.js';

/** Words and numbers that rules look for, so that they meet now and then. */
const words = [
  ...[
    '',
    'a',
    'b',
    'root',
    'data',
    'default',
    'net-1',
    'virtio',
    'sata',
    'scsi',
    'usb',
    'ide',
    'q35',
    'pc-q35-9.0',
  ],
  ...[
    'amd64',
    'arm64',
    's390x',
    'host-model',
    'host-passthrough',
    'require',
    'forbid',
    'none',
    'writeback',
    'native',
  ],
  ...[
    'In',
    'NotIn',
    'Exists',
    'Gt',
    'Equal',
    'NoSchedule',
    'DoNotSchedule',
    'TCP',
    'UDP',
    'up',
    'absent',
    'shared',
  ],
  ...[
    '02:00:00:00:00:00',
    '02:00:17:00:00:01',
    '0000:81:01.0',
    '10.0.0.1',
    '/disk/a.img',
    '../a',
    'UPPER',
    'with space',
  ],
  ...[
    '2Mi',
    '1Gi',
    '1e3',
    'YQ==',
    'a=',
    'Paused',
    'LiveMigrate',
    'Always',
    'Halted',
    'x'.repeat(300),
    '\u{1f600}',
  ],
];
const quantities = [
  '0',
  '-1',
  '1',
  '500m',
  '1500m',
  '2',
  '64Mi',
  '1Gi',
  '1025Mi',
  '4Gi',
  '1e3',
  '1e1.5',
  '2G',
  'lots',
  1,
  2.5,
];
const integers = [0, 1, 2, 3, 4, 64, 224, 300, 512, 4096, 65_535, 65_536, 2_147_483_647, -1];

const definitions = loadDefinitions();

/** Of the shape that the definition of this full name gives; values are often wrong, types rarely. */
export function shaped(name: string): fc.Arbitrary<unknown> {
  return valueOf({ $ref: name }, 9);
}

function valueOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const { $ref } = schema;
  if ($ref === quantityName) return fc.constantFrom(...quantities);
  if ($ref !== undefined) return valueOf(definitions[$ref] ?? {}, depth);
  if (schema['x-kubernetes-int-or-string'] === true) return fc.constantFrom(...integers, ...words);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object':
      return objectOf(schema, depth);
    case 'array':
      return depth === 0
        ? fc.constant([])
        : fc.array(valueOf(schema.items ?? {}, depth - 1), { maxLength: 3, size: 'max' });
    case 'integer':
    case 'number':
      return fc.constantFrom(...integers);
    case 'boolean':
      return fc.boolean();
    case 'string':
    case undefined:
      return fc.constantFrom(...words);
  }
}

function objectOf(
  { properties = {}, required = [], additionalProperties }: Schema,
  depth: number,
): fc.Arbitrary<object> {
  if (typeof additionalProperties === 'object') {
    return fc.dictionary(
      fc.constantFrom('cpu', 'memory', 'a', 'b'),
      valueOf(additionalProperties, depth - 1),
      {
        maxKeys: 2,
      },
    );
  }
  if (depth === 0) return fc.constant({});
  const optional = Object.keys(properties).filter((key) => !required.includes(key));
  return fc.subarray(optional, { maxLength: Math.min(optional.length, 5) }).chain((chosen) =>
    fc.record(
      Object.fromEntries(
        Object.entries(properties)
          .filter(([key]) => required.includes(key) || chosen.includes(key))
          .map(([key, member]) => [key, valueOf(member, depth - 1)]),
      ),
    ),
  );
}

interface Fault {
  /** Picks a place: the n-th of all, counted around. */
  readonly place: number;
  readonly kind: 'drop' | 'replace' | 'mistype' | 'repeat';
  readonly text: string;
  readonly number: number;
  readonly odd: unknown;
}

const anyFault: fc.Arbitrary<Fault> = fc.record({
  place: fc.nat(10_000),
  kind: fc.constantFrom('drop', 'replace', 'replace', 'replace', 'mistype', 'repeat'),
  text: fc.constantFrom(...words, ...quantities.map(String)),
  number: fc.constantFrom(...integers),
  odd: fc.constantFrom<unknown>(true, null, {}, [], 1.5, 'odd'),
});

/** Mostly a value of the same type. */
function replacement(value: unknown, { kind, text, number, odd }: Fault): unknown {
  if (kind === 'mistype') return odd;
  switch (typeof value) {
    case 'string':
      return text;
    case 'number':
      return number;
    case 'boolean':
      return !value;
    default:
      return Array.isArray(value) ? [] : {};
  }
}

/** One of the given specs with one to three faults. */
export function faulty(specs: readonly object[]): fc.Arbitrary<object> {
  return fc
    .tuple(fc.constantFrom(...specs), fc.array(anyFault, { minLength: 1, maxLength: 3 }))
    .map(([spec, faults]) => faults.reduce(withFault, spec));
}

type Container = Record<string, unknown> | unknown[];

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

function* placesOf(container: Container): Generator<{ readonly container: Container; readonly key: string }> {
  for (const [key, value] of Object.entries(container)) {
    yield { container, key };
    if (isContainer(value)) yield* placesOf(value);
  }
}

function withFault<T extends object>(object: T, fault: Fault): T {
  const { place, kind } = fault;
  const copy = structuredClone(object);
  const places = [...placesOf(copy as Container)];
  const chosen = places[place % Math.max(places.length, 1)];
  if (chosen === undefined) return copy;
  const { container, key } = chosen;
  if (Array.isArray(container)) {
    const index = Number(key);
    if (kind === 'drop') container.splice(index, 1);
    else if (kind === 'repeat') container.push(structuredClone(container[index]));
    else container[index] = replacement(container[index], fault);
  } else if (kind === 'drop') Reflect.deleteProperty(container, key);
  else container[key] = replacement(container[key], fault);
  return copy;
}
