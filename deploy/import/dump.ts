/** A dump: a file or a folder of YAML and JSON, as `kubectl get -o yaml` writes them: objects, Lists, several documents a file. */
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Resource } from '../../apiserver/registry/resource.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Source, SourceObject } from './source.js';

/** What is wrong with a dump, and in which file. */
export class DumpError extends Error {
  override readonly name = 'DumpError';
}

const extensions = ['.yaml', '.yml', '.json'];

export function dumpSource(root: string, resources: readonly Resource[]): Source {
  const byKind = new Map(resources.map((resource) => [`${resource.group}/${resource.kind}`, resource]));
  return {
    async *objects(signal) {
      for (const file of await filesOf(root)) {
        signal.throwIfAborted();
        const documents = parseDocuments(await readFile(file, 'utf8'), file);
        for (const [index, document] of documents.entries())
          yield* objectsOf(document, `${file}, document ${index + 1}`, byKind);
      }
    },
  };
}

async function filesOf(root: string): Promise<string[]> {
  if ((await stat(root)).isFile()) return [root];
  const names = await readdir(root, { recursive: true });
  const files = names.filter((name) => extensions.includes(path.extname(name))).sort();
  if (files.length === 0) throw new DumpError(`${root} holds no ${extensions.join(', ')}`);
  return files.map((name) => path.join(root, name));
}

function parseDocuments(text: string, file: string): unknown[] {
  if (path.extname(file) === '.json') {
    try {
      return [JSON.parse(text)];
    } catch (cause) {
      throw new DumpError(`${file} is not JSON`, { cause });
    }
  }
  const documents = [...parseAllDocuments(text, { prettyErrors: false })];
  return documents.map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new DumpError(`${file} is not YAML: ${error.message}`);
    return document.toJS() as unknown;
  });
}

function* objectsOf(
  document: unknown,
  where: string,
  byKind: ReadonlyMap<string, Resource>,
): Generator<SourceObject> {
  // What follows the last `---` of a file.
  if (document === null) return;
  if (!isRecord(document)) throw new DumpError(`${where}: not an object`);
  const { apiVersion, kind, items, metadata } = document;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw new DumpError(`${where}: apiVersion and kind must be there`);
  if (Array.isArray(items) && kind.endsWith('List')) {
    for (const [index, item] of (items as unknown[]).entries()) {
      // Items of a typed list need not name their kind.
      const own = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
      const each = isRecord(item) ? { ...own, ...item } : item;
      yield* objectsOf(each, `${where}, item ${index + 1}`, byKind);
    }
    return;
  }
  if (!isRecord(metadata)) throw new DumpError(`${where}: metadata must be there`);
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  // Checked as far as its kind and metadata go; the intake judges the rest.
  const object = document as unknown as KubernetesObject;
  yield { resource: byKind.get(`${group}/${kind}`), kind: `${kind}.${group}`, object };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
