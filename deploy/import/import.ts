/** Carries the objects of a cluster's custom resources into our store, and looks whether they have arrived. */
import type { Resource } from '../../apiserver/registry/resource.js';
import { resourcePrefix } from '../../apiserver/registry/keys.js';
import type { Definitions } from '../../openapi/schema.js';
import { ConflictError } from '../../storage/errors.js';
import type { Backend } from '../../storage/interface.js';
import { digestOf, Intake, IntakeError, type Prepared } from './intake.js';
import type { Journal } from './journal.js';
import type { Source } from './source.js';

export interface ImportOptions {
  readonly source: Source;
  readonly backend: Backend;
  readonly journal: Journal;
  readonly definitions: Definitions;
  readonly resources: readonly Resource[];
  readonly signal: AbortSignal;
  /** Told what was noticed, a line each. */
  readonly remark: (line: string) => void;
}

/** Of one kind. */
export interface Count {
  /** Objects that the source has. */
  found: number;
  written: number;
  /** There already, as they should be. */
  unchanged: number;
  /** Refused, or somebody else's. */
  failed: number;
  /** Found out when everything is read again: missing, different, or changed in the source meanwhile. */
  different: number;
  /** In the store, and not in the source. */
  extra: number;
}

export interface ImportReport {
  readonly counts: ReadonlyMap<Resource, Count>;
  /** Objects of kinds that we do not serve, by kind. */
  readonly foreign: ReadonlyMap<string, number>;
  /** Everything that the source has is in the store, as it is in the source. */
  readonly complete: boolean;
}

const pageLength = 500;

export async function runImport(options: ImportOptions): Promise<ImportReport> {
  const counts = new Map<Resource, Count>(
    options.resources.map((resource) => [
      resource,
      { found: 0, written: 0, unchanged: 0, failed: 0, different: 0, extra: 0 },
    ]),
  );
  const intake = new Intake(options.definitions);
  const foreign = await write(options, intake, counts);
  await verify(options, intake, counts);
  const complete = [...counts.values()].every(({ failed, different }) => failed === 0 && different === 0);
  return { counts, foreign, complete };
}

async function write(
  { source, backend, journal, signal, remark }: ImportOptions,
  intake: Intake,
  counts: ReadonlyMap<Resource, Count>,
): Promise<Map<string, number>> {
  const foreign = new Map<string, number>();
  for await (const { resource, kind, object } of source.objects(signal)) {
    const count = resource === undefined ? undefined : counts.get(resource);
    if (resource === undefined || count === undefined) {
      foreign.set(kind, (foreign.get(kind) ?? 0) + 1);
      continue;
    }
    count.found += 1;
    try {
      const prepared = intake.prepare(resource, object);
      for (const line of prepared.remarks) remark(`${prepared.key}: ${line}`);
      count[await writeOne(backend, journal, prepared)] += 1;
    } catch (error) {
      if (!(error instanceof IntakeError)) throw error;
      count.failed += 1;
      remark(error.message);
    }
  }
  return foreign;
}

/** Overwrites only what an import wrote and nobody has changed since: users may be at work already. */
async function writeOne(
  backend: Backend,
  journal: Journal,
  { key, uid, bytes }: Prepared,
): Promise<'written' | 'unchanged'> {
  const { kv } = await backend.get(key);
  if (kv?.value.equals(bytes) === true) return 'unchanged';
  if (kv !== undefined && journal.revisionOf(key) !== kv.modRevision)
    throw new IntakeError(
      `${key}: the store holds another object, which was not imported; ${uid} was left out`,
    );
  try {
    const { revision } = await backend.write({ key, expect: kv?.modRevision ?? 0, value: bytes });
    await journal.add(key, revision);
    return 'written';
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw new IntakeError(`${key}: somebody else writes it; ${uid} was left out`, { cause: error });
  }
}

/** Reads the source and the store again, and compares what should be stored with what is. */
async function verify(
  { source, backend, resources, signal, remark }: ImportOptions,
  intake: Intake,
  counts: ReadonlyMap<Resource, Count>,
): Promise<void> {
  const expected = new Map<Resource, Map<string, string>>(resources.map((resource) => [resource, new Map()]));
  for await (const { resource, object } of source.objects(signal)) {
    if (resource === undefined) continue;
    try {
      const { key, digest } = intake.prepare(resource, object);
      expected.get(resource)?.set(key, digest);
    } catch (error) {
      // Told, and counted, when it was to be written.
      if (!(error instanceof IntakeError)) throw error;
    }
  }
  for (const [resource, count] of counts) {
    const missing = expected.get(resource) ?? new Map<string, string>();
    for await (const { key, value } of valuesUnder(backend, resourcePrefix(resource), signal)) {
      const digest = missing.get(key);
      missing.delete(key);
      if (digest === undefined) count.extra += 1;
      else if (digest !== digestOf(value)) {
        count.different += 1;
        remark(`${key}: the store does not hold what the source has now`);
      }
    }
    count.different += missing.size;
    for (const key of missing.keys()) remark(`${key}: is not in the store`);
  }
}

async function* valuesUnder(backend: Backend, prefix: string, signal: AbortSignal) {
  for (let after: string | undefined; ;) {
    signal.throwIfAborted();
    const page = await backend.list(prefix, { limit: pageLength, ...(after === undefined ? {} : { after }) });
    yield* page.items;
    after = page.items.at(-1)?.key;
    if (!page.more || after === undefined) return;
  }
}
