/** Host name, subdomain, DNS, service account. */
import { isIP } from 'node:net';
import { dnsLabelFaults, dnsSubdomainFaults } from '../../../../openapi/names.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { FieldPath, invalid, notSupported, required, unknownWord } from '../../causes.js';
import type { SpecRule } from './rule.js';

const dnsPolicies = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'];
const [mostNameservers, mostSearches, longestSearchList] = [3, 6, 256];

export const hostname: SpecRule = ({ spec, at }) => {
  const { hostname: host = '', subdomain = '' } = spec;
  return [
    ...(host === ''
      ? []
      : dnsLabelFaults(host)
          .slice(0, 1)
          .map((fault) => invalid(at.child('hostname'), fault))),
    ...(subdomain === ''
      ? []
      : dnsSubdomainFaults(subdomain)
          .slice(0, 1)
          .map((fault) => invalid(at.child('subdomain'), fault))),
  ];
};

/** The pod's own rules. As there, faults inside dnsConfig are placed by their list's name alone. */
export const dns: SpecRule = ({ spec, at }) => {
  const { dnsPolicy = '', dnsConfig } = spec;
  const causes: StatusCause[] = [];
  if (dnsPolicy !== '' && !dnsPolicies.includes(dnsPolicy)) {
    causes.push(notSupported(at.child('dnsPolicy'), unknownWord(dnsPolicy, dnsPolicies)));
  }
  if (dnsPolicy === 'None' && dnsConfig === undefined) {
    return [...causes, required(at.child('dnsConfig'), 'must be set with dnsPolicy None')];
  }
  if (dnsConfig === undefined) return causes;
  const { nameservers = [], searches = [], options = [] } = dnsConfig;
  const [inServers, inSearches, inOptions] = ['nameservers', 'searchDomains', 'options'].map((name) =>
    FieldPath.of(name),
  ) as [FieldPath, FieldPath, FieldPath];
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    return [...causes, required(inServers, 'dnsPolicy None needs at least one nameserver')];
  }
  if (nameservers.length > mostNameservers) causes.push(invalid(inServers, `at most ${mostNameservers}`));
  for (const server of nameservers)
    if (isIP(server) === 0 || server.includes('%'))
      causes.push(invalid(inServers, `${JSON.stringify(server)} is no IP address`));
  if (searches.length > mostSearches) causes.push(invalid(inSearches, `at most ${mostSearches}`));
  if (searches.join(' ').length > longestSearchList) {
    causes.push(
      invalid(inSearches, `at most ${longestSearchList} characters in all, with the spaces between them`),
    );
  }
  for (const search of searches)
    causes.push(...dnsSubdomainFaults(search).map((fault) => invalid(inSearches, fault)));
  for (const { name = '' } of options) if (name === '') causes.push(invalid(inOptions, 'name must be set'));
  return causes;
};

export const serviceAccount: SpecRule = ({ spec, at }) => {
  const name = spec.serviceAccountName ?? '';
  if (name === '') return [];
  const field = at.child('serviceAccountName');
  const other = (spec.volumes ?? [])
    .map((volume) => volume.serviceAccount?.serviceAccountName)
    .find((account) => account !== undefined && account !== name);
  return [
    ...dnsSubdomainFaults(name)
      .slice(0, 1)
      .map((fault) => invalid(field, fault)),
    ...(other === undefined
      ? []
      : [invalid(field, `must be that of the serviceAccount volume, ${JSON.stringify(other)}`)]),
  ];
};
