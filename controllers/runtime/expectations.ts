/**
 * What a controller has written but not yet seen in its informers. While something is awaited for a key, what the
 * informers show of it is out of date, and acting on it would write things twice.
 *
 * An expectation that is not met in time lapses: a missed event may delay work, never stop it.
 */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Clock } from './clock.js';
import { isOlder } from './object-key.js';

/** As client-go's controllers. */
const lapseAfter = 300_000;

interface Expected {
  readonly creations: Set<string>;
  readonly deletions: Set<string>;
  /** UID → the resourceVersion that our last write of the object made. */
  readonly versions: Map<string, string>;
  since: number;
}

export class Expectations {
  readonly #byKey = new Map<string, Expected>();

  constructor(private readonly clock: Clock) {}

  /** An object of this identity (its name, or its UID) is being created for `key`. */
  expectCreation(key: string, identity: string): void {
    this.#expect(key).creations.add(identity);
  }

  expectDeletion(key: string, uid: string): void {
    this.#expect(key).deletions.add(uid);
  }

  /** A write made `resourceVersion` of the object: older states are stale. */
  expectVersion(key: string, uid: string, resourceVersion: string): void {
    this.#expect(key).versions.set(uid, resourceVersion);
  }

  /** We wrote an object that our informer still shows as `seen`, or no longer shows. */
  expectWritten(key: string, written: KubernetesObject, seen: KubernetesObject | undefined): void {
    const { uid, resourceVersion } = written.metadata;
    // The informer may have been faster than the answer.
    if (seen?.metadata.uid === uid && isOlder(seen.metadata.resourceVersion, resourceVersion))
      this.expectVersion(key, uid, resourceVersion);
  }

  /** The creation was seen, or failed. */
  creationObserved(key: string, identity: string): void {
    this.#observe(key, (expected) => expected.creations.delete(identity));
  }

  /** The deletion was seen, or failed. */
  deletionObserved(key: string, uid: string): void {
    this.#observe(key, (expected) => {
      expected.deletions.delete(uid);
      expected.versions.delete(uid);
    });
  }

  versionObserved(key: string, uid: string, resourceVersion: string): void {
    this.#observe(key, (expected) => {
      const awaited = expected.versions.get(uid);
      if (awaited !== undefined && !isOlder(resourceVersion, awaited)) expected.versions.delete(uid);
    });
  }

  /** Everything awaited for `key` has been seen, or has lapsed. */
  satisfied(key: string): boolean {
    const expected = this.#byKey.get(key);
    if (expected === undefined) return true;
    if (this.clock.monotonic() - expected.since <= lapseAfter) return false;
    this.#byKey.delete(key);
    return true;
  }

  /** Milliseconds until what is awaited for `key` lapses. */
  lapsesIn(key: string): number {
    const expected = this.#byKey.get(key);
    return expected === undefined ? 0 : expected.since + lapseAfter - this.clock.monotonic() + 1;
  }

  /** The key's object is gone. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }

  #expect(key: string): Expected {
    const now = this.clock.monotonic();
    const expected = this.#byKey.get(key) ?? {
      creations: new Set(),
      deletions: new Set(),
      versions: new Map(),
      since: now,
    };
    expected.since = now;
    this.#byKey.set(key, expected);
    return expected;
  }

  #observe(key: string, change: (expected: Expected) => void): void {
    const expected = this.#byKey.get(key);
    if (expected === undefined) return;
    change(expected);
    const { creations, deletions, versions } = expected;
    if (creations.size + deletions.size + versions.size === 0) this.#byKey.delete(key);
  }
}
