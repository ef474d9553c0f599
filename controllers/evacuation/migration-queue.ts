/** How many migrations may be begun. */
import type {
  KubeVirtConfiguration,
  VirtualMachineInstanceMigration,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { isMigrationFinal } from '../migrations.js';
import type { Informer } from '../runtime/informer.js';
import { keyOf } from '../runtime/object-key.js';

const defaultPerCluster = 5;
const defaultOutboundPerNode = 2;
export const migrationInstanceIndex = 'instance';

export class MigrationQueue {
  /** Keys of migrations that were created and that the informer does not show yet, with the key of their VMI. */
  readonly #begun = new Map<string, string>();

  constructor(private readonly migrations: Informer<VirtualMachineInstanceMigration>) {
    migrations.addIndex(migrationInstanceIndex, (migration) => [instanceOf(migration)]);
    const seen = ({ metadata }: VirtualMachineInstanceMigration): void => {
      this.#begun.delete(keyOf(metadata));
    };
    migrations.addHandler({ add: seen, delete: seen });
  }

  /** `instances`: keys of all VMIs on the node. */
  free(instances: ReadonlySet<string>, { migrations }: KubeVirtConfiguration): number {
    const active = [
      ...this.migrations
        .list()
        .filter((migration) => !isMigrationFinal(migration))
        .map(instanceOf),
      ...this.#begun.values(),
    ];
    const outbound = active.filter((instance) => instances.has(instance));
    return Math.max(
      0,
      Math.min(
        (migrations?.parallelMigrationsPerCluster ?? defaultPerCluster) - active.length,
        (migrations?.parallelOutboundMigrationsPerNode ?? defaultOutboundPerNode) - outbound.length,
      ),
    );
  }

  isMoving(instance: string): boolean {
    return (
      [...this.#begun.values()].includes(instance) ||
      this.migrations.byIndex(migrationInstanceIndex, instance).some((each) => !isMigrationFinal(each))
    );
  }

  finished(instance: string): VirtualMachineInstanceMigration[] {
    return this.migrations.byIndex(migrationInstanceIndex, instance).filter(isMigrationFinal);
  }

  /** Call before the migration is created. */
  begin(migration: string, instance: string): void {
    this.#begun.set(migration, instance);
  }

  /** It was created, and the informer may have shown it already; or it could not be. */
  settle(migration: string, created: boolean): void {
    if (!created || this.migrations.get(migration) !== undefined) this.#begun.delete(migration);
  }
}

export function instanceOf({ metadata, spec }: VirtualMachineInstanceMigration): string {
  return keyOf({ namespace: metadata.namespace, name: spec.vmiName ?? '' });
}
