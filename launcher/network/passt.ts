/** passt: the guest has the pod's addresses, and its connections are made by a process of the pod. */
import type { Interface, Port, PortRange } from '../../openapi/generated/types/kubevirt_v1.js';
import type { PasstInterface } from '../../openapi/launcher/network.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { failure } from '../errors.js';
import { findExecutable } from '../qemu/executable.js';
import type { HelperProgram } from '../qemu/helper.js';

export const passtSocket = (name: string): string => `${podLayout.qemu}/passt-${name}.sock`;

export function passtProgram(
  entry: Interface,
  { podInterface }: PasstInterface,
  searchPath: string,
  isRoot: boolean,
): HelperProgram {
  const binary = findExecutable('passt', searchPath);
  if (binary === undefined) throw failure('HelperMissing', 'passt');
  const socket = passtSocket(entry.name);
  return {
    name: `passt-${entry.name}`,
    binary,
    socket,
    argv: [
      '--foreground',
      '--stderr',
      '--quiet',
      '--one-off',
      '--socket',
      socket,
      '--interface',
      podInterface,
      '--tcp-ports',
      portList(entry, 'TCP'),
      '--udp-ports',
      portList(entry, 'UDP'),
      // The gateway is the gateway, not the pod's loopback interface.
      '--no-map-gw',
      // As root it would go on as nobody, who can not reach the socket's directory.
      ...(isRoot ? ['--runas', '0:0'] : []),
    ],
  };
}

/** passt's words for what the spec lets in: everything where it lists no port at all. */
export function portList({ ports = [], portRanges = [] }: Interface, protocol: 'TCP' | 'UDP'): string {
  if (ports.length === 0 && portRanges.length === 0) return 'all';
  const meant = ({ protocol: own = 'TCP' }: Port | PortRange): boolean => own === protocol;
  const list = [
    ...ports.filter(meant).map(({ port }) => String(port)),
    ...portRanges.filter(meant).map(({ start, end }) => `${start}-${end}`),
  ];
  return list.length === 0 ? 'none' : list.join(',');
}
