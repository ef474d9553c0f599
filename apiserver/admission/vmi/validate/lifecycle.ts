/** Probes, start and eviction strategy. */
import type { Probe } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { invalid, required, unknownWord, wordCauses, type FieldPath } from '../../causes.js';
import type { SpecRule } from './rule.js';

const evictionStrategies = ['None', 'LiveMigrate', 'LiveMigrateIfPossible', 'External'];
const schemes = ['HTTP', 'HTTPS'];

export const probes: SpecRule = ({ spec, at }) => {
  const onPodNetwork = (spec.networks ?? []).some((network) => network.pod !== undefined);
  return [
    ...probe(spec.readinessProbe, onPodNetwork, at.child('readinessProbe')),
    ...probe(spec.livenessProbe, onPodNetwork, at.child('livenessProbe')),
  ];
};

function probe(given: Probe | undefined, onPodNetwork: boolean, field: FieldPath): StatusCause[] {
  if (given === undefined) return [];
  const ways = (['httpGet', 'tcpSocket', 'exec', 'guestAgentPing'] as const).filter(
    (way) => given[way] !== undefined,
  );
  const causes: StatusCause[] = [];
  if (ways.length > 1) causes.push(invalid(field, `must probe in one way, not by ${ways.join(' and ')}`));
  if (ways.length === 0) causes.push(required(field, 'must have httpGet, tcpSocket, exec or guestAgentPing'));
  causes.push(...wordCauses(given.httpGet?.scheme, schemes, field.child('httpGet', 'scheme')));
  for (const way of ways) {
    if (!onPodNetwork && (way === 'httpGet' || way === 'tcpSocket')) {
      causes.push(invalid(field.child(way), 'works only with an interface on the pod network'));
    }
  }
  return causes;
}

export const startStrategy: SpecRule = ({ spec, at }) => {
  if (spec.startStrategy === undefined) return [];
  const field = at.child('startStrategy');
  if (spec.startStrategy !== 'Paused') return [invalid(field, unknownWord(spec.startStrategy, ['Paused']))];
  return spec.livenessProbe === undefined
    ? []
    : [invalid(field, 'a guest that starts paused would fail its livenessProbe')];
};

export const evictionStrategy: SpecRule = ({ spec, at, configuration }) => {
  const strategy = spec.evictionStrategy ?? configuration.evictionStrategy;
  if (strategy === undefined || evictionStrategies.includes(strategy)) return [];
  return [invalid(at.child('evictionStrategy'), unknownWord(strategy, evictionStrategies))];
};
