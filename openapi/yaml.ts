/** YAML as kubectl reads it: the tags of YAML 1.1 that manifests rely on, without its surprises. */
import { isMap, isScalar, isSeq, parseDocument, type Tags } from 'yaml';
import { DecodeError, maximumDuplicates, type Decoded } from './decoded.js';

/**
 * `yes` is a boolean and `0644` is octal, as in every manifest written for kubectl. Times, sexagesimal numbers (a MAC address can
 * look like one) and binary stay strings.
 */
function tagsOfManifests(tags: Tags): Tags {
  const unwanted = new Set([
    'tag:yaml.org,2002:timestamp',
    'tag:yaml.org,2002:binary',
    'tag:yaml.org,2002:omap',
    'tag:yaml.org,2002:pairs',
    'tag:yaml.org,2002:set',
  ]);
  return tags.filter((tag) => typeof tag === 'string' || (tag.format !== 'TIME' && !unwanted.has(tag.tag)));
}

/** One document. Throws `DecodeError`. */
export function decodeYamlText(text: string): Decoded {
  try {
    const document = parseDocument(text, {
      version: '1.1',
      customTags: tagsOfManifests,
      uniqueKeys: false,
      stringKeys: false,
      prettyErrors: false,
      // With 'silent' a second document would go unnoticed.
      logLevel: 'error',
    });
    const [error] = document.errors;
    if (error !== undefined)
      throw new DecodeError(`yaml: ${positionOf(text, error.pos[0])}: ${error.message}`);
    const duplicates = new Set<string>();
    visit(document.contents, '', duplicates);
    return { value: document.toJS({ maxAliasCount: 100 }) as unknown, duplicates: [...duplicates] };
  } catch (error) {
    if (error instanceof RangeError) throw new DecodeError('yaml: the document is nested too deeply');
    if (error instanceof ReferenceError) throw new DecodeError('yaml: the document uses too many aliases');
    throw error;
  }
}

function positionOf(text: string, offset: number): string {
  return `line ${text.slice(0, offset).split('\n').length}`;
}

/** Finds repeated keys, and refuses keys that are not scalars. */
function visit(node: unknown, path: string, duplicates: Set<string>): void {
  if (isSeq(node)) {
    node.items.forEach((item, index) => visit(item, `${path}[${index}]`, duplicates));
    return;
  }
  if (!isMap(node)) return;
  const seen = new Set<string>();
  for (const { key, value } of node.items) {
    if (!isScalar(key))
      throw new DecodeError(`yaml: a key of ${path === '' ? 'the document' : path} is not a scalar`);
    const name = String(key.value);
    const child = path === '' ? name : `${path}.${name}`;
    if (seen.has(name) && duplicates.size < maximumDuplicates) duplicates.add(child);
    seen.add(name);
    visit(value, child, duplicates);
  }
}
