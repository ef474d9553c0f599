import { podLayout } from '../../openapi/launcher/protocol.js';
import { serialController } from './buses.js';
import { device, given, option, virtioDevice, type MachineContext, type Part } from './model.js';

/** The id of the guest agent's port, by which QEMU's VSERPORT_CHANGE events name it. */
export const agentPort = 'channel-agent';
export const agentChannel = 'org.qemu.guest_agent.0';
const metricsChannelName = 'org.github.vhostmd.1';

export function hasSerialConsole({ vmi }: Pick<MachineContext, 'vmi'>): boolean {
  return vmi.spec.domain.devices.autoattachSerialConsole ?? true;
}

/**
 * The channels between launcher and QEMU. The launcher listens and QEMU connects, so that neither polls, and a QEMU
 * whose launcher is gone does not start at all.
 */
export function serialParts(context: MachineContext): Part[] {
  const parts: Part[] = [
    socketChardev('qmp', podLayout.qmpSocket),
    option('mon', 'chardev=qmp,mode=control'),
    option('pidfile', podLayout.qemuPidFile),
    virtioDevice(context, 'serial', serialController, 'controller'),
    socketChardev('agent', podLayout.guestAgentSocket),
    device('virtserialport', agentPort, given, {
      bus: `${serialController}.0`,
      nr: 1,
      chardev: 'agent',
      name: agentChannel,
    }),
    ...metricsChannel(context),
  ];
  if (!hasSerialConsole(context)) return parts;
  return [
    ...parts,
    socketChardev('serial0', podLayout.serialSocket),
    device('isa-serial', 'serial0', given, { chardev: 'serial0', index: 0 }),
  ];
}

/** Where a guest asks for its node's metrics, as vhostmd's clients do. */
function metricsChannel({ vmi }: MachineContext): Part[] {
  if (!vmi.spec.domain.devices.downwardMetrics) return [];
  return [
    socketChardev('metrics', podLayout.downwardMetricsSocket),
    device('virtserialport', 'channel-metrics', given, {
      bus: `${serialController}.0`,
      nr: 2,
      chardev: 'metrics',
      name: metricsChannelName,
    }),
  ];
}

function socketChardev(id: string, path: string): Part {
  return option('chardev', `socket,id=${id},path=${path},server=off`);
}
