/** Validation of a VirtualMachineInstanceMigration: of a VMI that can migrate, one at a time, and the same to its end. */
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrationSpec,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { badRequest } from '../../errors/api-error.js';
import { sameJson } from '../../registry/equal.js';
import { FieldPath, forbidden, invalid, notSupported, required } from '../causes.js';
import type { IsComponent } from '../components.js';
import { featureEnabled } from '../configuration/feature-gates.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission, type RuleContext } from '../kind-rules.js';
import { migrationLabel } from './names.js';

const spec = FieldPath.of('spec');

/** `isComponent` tells who may set a priority: the parts of this system that order evacuations. */
export function migrationValidation(isComponent: IsComponent): AdmissionPlugin {
  return kindAdmission<VirtualMachineInstanceMigration>({
    name: 'MigrationValidation',
    group: 'kubevirt.io',
    resource: 'virtualmachineinstancemigrations',
    async create(migration, context) {
      const causes = specCauses(migration.spec, isComponent(context.user));
      if (causes.length > 0) return causes;
      await requireMigratable(migration, context);
      return decentralizedCauses(migration.spec, context);
    },
    update: (migration, old) =>
      sameJson(migration.spec, old.spec)
        ? labelCauses(migration, old)
        : [notSupported(spec, 'can not be changed: cancel this migration and create another')],
  });
}

function specCauses(
  { vmiName = '', priority }: VirtualMachineInstanceMigrationSpec,
  mayPrioritize: boolean,
): StatusCause[] {
  const causes: StatusCause[] = [];
  if (vmiName === '') causes.push(required(spec.child('vmiName'), 'must name the VMI to migrate'));
  if (priority !== undefined && !mayPrioritize) {
    causes.push(forbidden(spec.child('priority'), 'is set by the controllers only'));
  }
  return causes;
}

/** Throws BadRequest unless the VMI is there, alive and movable, and nothing moves it already. */
async function requireMigratable(
  { metadata: { namespace }, spec: { vmiName = '', sendTo, receive } }: VirtualMachineInstanceMigration,
  { lookups }: RuleContext,
): Promise<void> {
  const vmi = await lookups.get<VirtualMachineInstance>(
    'kubevirt.io',
    'virtualmachineinstances',
    namespace,
    vmiName,
  );
  if (vmi === undefined) throw badRequest(`there is no VMI "${vmiName}" in namespace "${namespace ?? ''}"`);
  const { phase, conditions = [] } = vmi.status ?? {};
  if (phase === 'Succeeded' || phase === 'Failed') {
    throw badRequest(`the VMI "${vmiName}" has ended (${phase}) and can not migrate`);
  }
  const obstacle = conditions.find(({ type, status }) => type === 'LiveMigratable' && status === 'False');
  // Disks of its own do not hold a VMI that leaves its namespace or cluster: they are copied.
  const copied = (sendTo ?? receive) !== undefined && obstacle?.reason === 'DisksNotLiveMigratable';
  if (obstacle !== undefined && !copied) {
    throw badRequest(
      `the VMI "${vmiName}" can not migrate: ${obstacle.reason ?? ''}: ${obstacle.message ?? ''}`,
    );
  }
  const migrations = await lookups.list<VirtualMachineInstanceMigration>(
    'kubevirt.io',
    'virtualmachineinstancemigrations',
    namespace,
  );
  const other = migrations.find(
    (migration) => migration.metadata.labels?.[migrationLabel] === vmiName && !isFinished(migration),
  );
  if (other !== undefined) {
    throw badRequest(
      `in-flight migration detected: "${other.metadata.name}" of the VMI "${vmiName}" is not finished`,
    );
  }
}

function decentralizedCauses(
  { sendTo, receive }: VirtualMachineInstanceMigrationSpec,
  { configuration }: RuleContext,
): StatusCause[] {
  if (sendTo === undefined && receive === undefined) return [];
  if (!featureEnabled(configuration, 'DecentralizedLiveMigration')) {
    const side = sendTo === undefined ? 'receive' : 'sendTo';
    return [notSupported(spec.child(side), 'needs the feature gate DecentralizedLiveMigration')];
  }
  if (sendTo === undefined || receive === undefined || sendTo.migrationID === receive.migrationID) return [];
  return [
    invalid(
      spec.child('receive', 'migrationID'),
      `${JSON.stringify(receive.migrationID)} must be that of sendTo, ${JSON.stringify(sendTo.migrationID)}`,
    ),
  ];
}

/** Controllers find migrations by this label. */
function labelCauses(
  migration: VirtualMachineInstanceMigration,
  { metadata }: VirtualMachineInstanceMigration,
): StatusCause[] {
  const before = metadata.labels?.[migrationLabel];
  if (isFinished(migration) || before === undefined) return [];
  if (migration.metadata.labels?.[migrationLabel] === before) return [];
  return [
    notSupported(
      FieldPath.of('metadata.labels').key(migrationLabel),
      `must stay ${JSON.stringify(before)} until the migration is finished`,
    ),
  ];
}

function isFinished({ status }: VirtualMachineInstanceMigration): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
