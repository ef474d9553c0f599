/** A kubeconfig for `admin` of a server on loopback. */
import { writeFileSync } from 'node:fs';
import type { NativeServer } from '../apiserver/native-server.js';

export function writeKubeconfig(file: string, { port, authority }: NativeServer): void {
  const authorityData = Buffer.from(authority.cert).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'test',
        cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority-data': authorityData },
      },
    ],
    users: [{ name: 'admin', user: { token: 'admin' } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin', namespace: 'default' } }],
    'current-context': 'test',
  };
  writeFileSync(file, JSON.stringify(config));
}
