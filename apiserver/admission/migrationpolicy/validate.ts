/** Validation of a MigrationPolicy: that its numbers make sense, and that what is experimental is switched on. */
import type { MigrationPolicy } from '../../../openapi/generated/types/kubevirt_migrations_v1alpha1.js';
import type {
  KubeVirtConfiguration,
  StallDetectorOptions,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import type { Quantity, StatusCause } from '../../../openapi/meta.js';
import { parseQuantity } from '../../../openapi/quantity.js';
import { sameJson } from '../../registry/equal.js';
import { FieldPath, invalid } from '../causes.js';
import { featureEnabled, type FeatureGate } from '../configuration/feature-gates.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission } from '../kind-rules.js';

export function migrationPolicyValidation(): AdmissionPlugin {
  return kindAdmission<MigrationPolicy>({
    name: 'MigrationPolicyValidation',
    group: 'migrations.kubevirt.io',
    resource: 'migrationpolicies',
    create: (policy, { configuration }) => causesOf(policy, undefined, configuration),
    update: (policy, old, { configuration }) => causesOf(policy, old, configuration),
  });
}

function causesOf(
  { spec }: MigrationPolicy,
  old: MigrationPolicy | undefined,
  configuration: KubeVirtConfiguration,
): StatusCause[] {
  const at = FieldPath.of('spec');
  const causes: StatusCause[] = [];
  if ((spec.completionTimeoutPerGiB ?? 0) < 0) {
    causes.push(
      invalid(at.child('completionTimeoutPerGiB'), `${spec.completionTimeoutPerGiB} must not be negative`),
    );
  }
  if (parseQuantity(spec.bandwidthPerMigration ?? 0).nanos < 0n) {
    causes.push(
      invalid(at.child('bandwidthPerMigration'), `${spec.bandwidthPerMigration} must not be negative`),
    );
  }
  const { stallDetector, downtimeTuning } = spec.experimental ?? {};
  const experimental = at.child('experimental');
  if (stallDetector !== undefined && downtimeTuning !== undefined) {
    causes.push(
      invalid(
        experimental,
        'stallDetector and downtimeTuning exclude each other: both set the allowed downtime',
      ),
    );
  }
  return [
    ...causes,
    ...gateCauses(spec, old?.spec, configuration, at),
    ...factorCauses(stallDetector ?? {}, experimental),
  ];
}

type Gated = Pick<MigrationPolicy['spec'], 'maxDowntimeMs' | 'experimental'>;
/** What may be set or changed only while one of the gates is on. */
const gated: readonly {
  readonly path: readonly string[];
  readonly read: (spec: Gated) => unknown;
  readonly gates: readonly FeatureGate[];
}[] = [
  {
    path: ['maxDowntimeMs'],
    read: ({ maxDowntimeMs }) => maxDowntimeMs,
    gates: ['MigrationStallDetection', 'MigrationDowntimeTuning'],
  },
  {
    path: ['experimental', 'stallDetector'],
    read: ({ experimental }) => experimental?.stallDetector,
    gates: ['MigrationStallDetection'],
  },
  {
    path: ['experimental', 'downtimeTuning'],
    read: ({ experimental }) => experimental?.downtimeTuning,
    gates: ['MigrationDowntimeTuning'],
  },
];

function gateCauses(
  spec: Gated,
  old: Gated | undefined,
  configuration: KubeVirtConfiguration,
  at: FieldPath,
): StatusCause[] {
  return gated
    .filter(({ read, gates }) => {
      const value = read(spec);
      if (value === undefined || (old !== undefined && sameJson(value, read(old)))) return false;
      return !gates.some((gate) => featureEnabled(configuration, gate));
    })
    .map(({ path, gates }) => invalid(at.child(...path), `needs the feature gate ${gates.join(' or ')}`));
}

/** Thousandths: a factor has three decimal places at most. */
interface Bounds {
  readonly least: bigint;
  readonly most?: bigint;
}

const factors: Readonly<
  Record<
    'ewmaAlpha' | 'precopyPossibleFactor' | 'patienceWindowDecayFactor' | 'completionTimeoutFactor',
    Bounds
  >
> = {
  ewmaAlpha: { least: 1n, most: 1000n },
  precopyPossibleFactor: { least: 1000n },
  patienceWindowDecayFactor: { least: 0n, most: 1000n },
  completionTimeoutFactor: { least: 1000n },
};
const nanosPerThousandth = 1_000_000n;

function factorCauses(detector: StallDetectorOptions, experimental: FieldPath): StatusCause[] {
  return Object.entries(factors).flatMap(([name, bounds]) => {
    const value = detector[name as keyof typeof factors];
    const fault = value === undefined ? undefined : factorFault(value, bounds);
    return fault === undefined ? [] : [invalid(experimental.child('stallDetector', name), fault)];
  });
}

function factorFault(value: Quantity, { least, most }: Bounds): string | undefined {
  const { nanos } = parseQuantity(value);
  if (nanos % nanosPerThousandth !== 0n) return `${value} has more than three decimal places`;
  const thousandths = nanos / nanosPerThousandth;
  const decimal = (bound: bigint): string => String(Number(bound) / 1000);
  if (thousandths < least) return `${value} must be at least ${decimal(least)}`;
  if (most !== undefined && thousandths > most) return `${value} must be at most ${decimal(most)}`;
  return undefined;
}
