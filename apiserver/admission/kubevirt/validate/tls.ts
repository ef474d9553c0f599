/** TLS of the components: cipher suites by their IANA names, which only versions before 1.3 let one choose. */
import type { StatusCause } from '../../../../openapi/meta.js';
import { sameJson } from '../../../registry/equal.js';
import { notSupported, unknownWord } from '../../causes.js';
import { configurationPath, type KubeVirtRule } from './rule.js';

const cipherSuites = [
  ...['128_GCM_SHA256', '256_GCM_SHA384'].map((name) => `TLS_AES_${name}`),
  'TLS_CHACHA20_POLY1305_SHA256',
  ...['ECDHE_ECDSA', 'ECDHE_RSA'].flatMap((exchange) =>
    [
      'AES_128_CBC_SHA',
      'AES_128_CBC_SHA256',
      'AES_128_GCM_SHA256',
      'AES_256_CBC_SHA',
      'AES_256_GCM_SHA384',
      'CHACHA20_POLY1305_SHA256',
      'RC4_128_SHA',
    ].map((cipher) => `TLS_${exchange}_WITH_${cipher}`),
  ),
  'TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA',
  ...[
    '3DES_EDE_CBC_SHA',
    'AES_128_CBC_SHA',
    'AES_128_CBC_SHA256',
    'AES_128_GCM_SHA256',
    'AES_256_CBC_SHA',
    'AES_256_GCM_SHA384',
    'RC4_128_SHA',
  ].map((cipher) => `TLS_RSA_WITH_${cipher}`),
];

export const tls: KubeVirtRule = ({ configuration }, old): StatusCause[] => {
  const chosen = configuration?.tlsConfiguration;
  if (chosen === undefined || sameJson(chosen, old.configuration?.tlsConfiguration)) return [];
  const { ciphers = [], minTLSVersion = 'VersionTLS13' } = chosen;
  const at = configurationPath.child('tlsConfiguration', 'ciphers');
  if (minTLSVersion === 'VersionTLS13') {
    if (ciphers.length === 0) return [];
    return [
      notSupported(at, 'can be chosen only with a minTLSVersion below VersionTLS13, which has its own'),
    ];
  }
  return ciphers.flatMap((cipher, index) =>
    cipherSuites.includes(cipher) ? [] : [notSupported(at.index(index), unknownWord(cipher, cipherSuites))],
  );
};
