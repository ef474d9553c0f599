/** The file that says how objects are written and read: kube-apiserver's EncryptionConfiguration. */
import { decodeYamlText } from '../../openapi/yaml.js';
import { aesCbc } from './aes-cbc.js';
import { aesGcm, type Provider } from './aes-gcm.js';

/** What is wrong with the file, and where. */
export class EncryptionConfigurationError extends Error {
  override readonly name = 'EncryptionConfigurationError';
  constructor(path: string, message: string) {
    super(`EncryptionConfiguration: ${path}: ${message}`);
  }
}

/** For the resources that a rule names: the first provider writes, all of them read. `identity` is plain bytes. */
export interface EncryptionRule {
  readonly resources: readonly string[];
  readonly providers: readonly [Provider | 'identity', ...(Provider | 'identity')[]];
}

/** Of several rules for one resource the first counts; resources without one are plain. */
export type EncryptionConfiguration = readonly EncryptionRule[];

type Json = Readonly<Record<string, unknown>>;

/** Those that have keys. */
const keyed: Readonly<Record<string, (name: string, key: Buffer) => Provider>> = {
  aesgcm: aesGcm,
  aescbc: aesCbc,
};
const supported = [...Object.keys(keyed), 'identity'];

/** YAML or JSON. Throws `EncryptionConfigurationError`, or `DecodeError` if it is neither. */
export function parseEncryptionConfiguration(text: string): EncryptionConfiguration {
  const document = asObject(decodeYamlText(text).value, 'the document');
  const { apiVersion, kind, resources } = document;
  if (apiVersion !== 'apiserver.config.k8s.io/v1' || kind !== 'EncryptionConfiguration')
    fail('kind', 'must be EncryptionConfiguration of apiserver.config.k8s.io/v1');
  return asList(resources, 'resources').map((rule, index) => parseRule(rule, `resources[${index}]`));
}

function parseRule(value: unknown, path: string): EncryptionRule {
  const rule = asObject(value, path);
  const resources = asList(rule['resources'], `${path}.resources`).map((name, index) =>
    parseResource(name, `${path}.resources[${index}]`),
  );
  const [first, ...others] = asList(rule['providers'], `${path}.providers`).flatMap((provider, index) =>
    parseProvider(provider, `${path}.providers[${index}]`),
  );
  if (first === undefined) fail(`${path}.providers`, 'must name at least one');
  return { resources, providers: [first, ...others] };
}

function parseResource(name: unknown, path: string): string {
  if (typeof name === 'string' && /^(\*|[a-z][a-z0-9-]*)(\.[a-z0-9.*-]*)?$/.test(name)) return name;
  return fail(path, 'must be like secrets, virtualmachines.kubevirt.io, *.kubevirt.io or *.*');
}

/** One for each key of a provider. */
function parseProvider(value: unknown, path: string): (Provider | 'identity')[] {
  const provider = asObject(value, path);
  const [name, ...more] = Object.keys(provider);
  if (name === undefined || more.length > 0) fail(path, 'must have one member, the kind of the provider');
  if (name === 'identity') return ['identity'];
  const create = Object.hasOwn(keyed, name) ? keyed[name] : undefined;
  if (create === undefined)
    return fail(path, `${name} is not supported: choose from ${supported.join(', ')}`);
  const keys = asList(asObject(provider[name], `${path}.${name}`)['keys'], `${path}.${name}.keys`);
  if (keys.length === 0) fail(`${path}.${name}.keys`, 'must hold at least one key');
  const names = new Set<string>();
  return keys.map((each, index) => {
    const at = `${path}.${name}.keys[${index}]`;
    const { name: keyName, secret } = asObject(each, at);
    if (typeof keyName !== 'string' || !/^[^:\s]+$/.test(keyName))
      fail(`${at}.name`, 'must be a word without colons');
    if (names.has(keyName)) fail(`${at}.name`, `${keyName} is there twice`);
    names.add(keyName);
    return create(keyName, parseSecret(secret, `${at}.secret`));
  });
}

/** The value itself is told to nobody. */
function parseSecret(secret: unknown, path: string): Buffer {
  if (typeof secret !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(secret)) fail(path, 'must be base64');
  const key = Buffer.from(secret, 'base64');
  if (![16, 24, 32].includes(key.length)) fail(path, `must be 16, 24 or 32 bytes, not ${key.length}`);
  return key;
}

function asObject(value: unknown, path: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(path, 'must be an object');
  return value as Json;
}

function asList(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) ? value : fail(path, 'must be a list');
}

function fail(path: string, message: string): never {
  throw new EncryptionConfigurationError(path, message);
}

/** The rule for what lives under `/<group>/<resource>/`, if there is one. */
export function ruleFor(
  configuration: EncryptionConfiguration,
  group: string,
  resource: string,
): EncryptionRule | undefined {
  const inCore = group === 'core';
  const matches = (pattern: string): boolean => {
    const dot = pattern.indexOf('.');
    const name = dot === -1 ? pattern : pattern.slice(0, dot);
    const of = dot === -1 ? '' : pattern.slice(dot + 1);
    return (name === '*' || name === resource) && (of === '*' || of === (inCore ? '' : group));
  };
  return configuration.find(({ resources }) => resources.some(matches));
}
