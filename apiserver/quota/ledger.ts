/**
 * Charges new objects to the quotas of their namespace. All that come while a namespace is being charged are charged together, with
 * one write to each quota.
 */
import type { ResourceQuota } from '../../openapi/generated/types/core_v1.js';
import { conflict } from '../errors/api-error.js';
import { changedMeanwhile } from '../errors/status.js';
import { forbidden } from '../registry/endpoint.js';
import { charged, countName, limits, refusalOf } from './object-counts.js';

/** Where quotas are kept, and counted by somebody else. */
export interface QuotaStore {
  /** As they were seen last. */
  seen(namespace: string): readonly ResourceQuota[];
  /** As it is; undefined if it is no more. */
  get(namespace: string, name: string): Promise<ResourceQuota | undefined>;
  /** Writes the status. False if the quota has changed since it was read, or is no more. */
  updateStatus(quota: ResourceQuota): Promise<boolean>;
}

export interface NewObject {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** Whether it must fit, but does not count. */
  readonly dryRun: boolean;
}

interface Charge {
  readonly object: NewObject;
  readonly count: string;
  /** Names of the quotas that have it. */
  readonly paid: Set<string>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A quota that others keep changing is tried so often. */
const attempts = 8;

export class QuotaLedger {
  readonly #waiting = new Map<string, Charge[]>();

  constructor(private readonly store: QuotaStore) {}

  /** Resolves once all quotas have room for the object and have counted it. Rejects with Forbidden if one has none. */
  async charge(object: NewObject): Promise<void> {
    const { namespace } = object;
    const count = countName(object.group, object.resource);
    if (!this.store.seen(namespace).some((quota) => limits(quota, count))) return;
    await new Promise<void>((resolve, reject) => {
      const charge = { object, count, paid: new Set<string>(), resolve, reject };
      const waiting = this.#waiting.get(namespace);
      if (waiting !== undefined) {
        waiting.push(charge);
        return;
      }
      this.#waiting.set(namespace, [charge]);
      void this.#serve(namespace);
    });
  }

  /** Until nothing waits in the namespace any more. */
  async #serve(namespace: string): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(namespace) ?? [];
      if (batch.length === 0) {
        this.#waiting.delete(namespace);
        return;
      }
      this.#waiting.set(namespace, []);
      try {
        await this.#settle(namespace, batch);
      } catch (error) {
        // Those that are settled already take no notice.
        for (const { reject } of batch) reject(error);
      }
    }
  }

  /** Settles each charge, or throws. */
  async #settle(namespace: string, batch: readonly Charge[]): Promise<void> {
    let open = batch;
    for (let attempt = 1; open.length > 0; attempt++) {
      const accounts = await this.#accounts(namespace, open);
      const accepted = open.filter((charge) => enter(charge, accounts));
      for (const account of accounts) {
        if (account.charges.length === 0 || !(await this.store.updateStatus(account.quota))) continue;
        for (const { paid } of account.charges) paid.add(account.name);
        account.charges.length = 0;
      }
      const unpaid = accounts.filter(({ charges }) => charges.length > 0);
      open = accepted.filter((charge) => unpaid.some(({ charges }) => charges.includes(charge)));
      for (const charge of accepted) if (!open.includes(charge)) charge.resolve();
      if (attempt < attempts) continue;
      const name = unpaid[0]?.name ?? '';
      for (const { reject } of open) reject(conflict('', 'resourcequotas', name, changedMeanwhile));
      return;
    }
  }

  /** The quotas that limit what is charged, as they are now. */
  async #accounts(namespace: string, charges: readonly Charge[]): Promise<readonly Account[]> {
    const names = this.store
      .seen(namespace)
      .filter((quota) => charges.some(({ count }) => limits(quota, count)))
      .map(({ metadata }) => metadata.name)
      .sort();
    const quotas = await Promise.all(names.map((name) => this.store.get(namespace, name)));
    return quotas
      .filter((quota) => quota !== undefined)
      .map((quota) => ({ name: quota.metadata.name, quota, charges: [] }));
  }
}

/** A quota, and what has been entered into it but is not written yet. */
interface Account {
  readonly name: string;
  quota: ResourceQuota;
  readonly charges: Charge[];
}

/** Enters the charge into the accounts that do not have it. False if one of them has no room: the charge is rejected then. */
function enter(charge: Charge, accounts: readonly Account[]): boolean {
  const { object, count, paid, reject } = charge;
  const owed = accounts.filter(({ name, quota }) => limits(quota, count) && !paid.has(name));
  for (const { quota } of owed) {
    const refusal = refusalOf(quota, count);
    if (refusal === undefined) continue;
    reject(forbidden({ group: object.group, plural: object.resource }, object.name, refusal));
    return false;
  }
  if (object.dryRun) return true;
  for (const account of owed) {
    account.quota = charged(account.quota, count);
    account.charges.push(charge);
  }
  return true;
}
