import { createHash } from 'node:crypto';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { escapeComma, option, type MachineContext, type Part } from './model.js';

/** What guests and their tools have come to look for on machines of this API. */
const system = { manufacturer: 'KubeVirt', product: 'None', family: 'KubeVirt' } as const;
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `firmware.uuid`, or one that is always the same for one VMI. */
export function machineUuid(vmi: VirtualMachineInstance): string {
  const asked = vmi.spec.domain.firmware?.uuid;
  if (asked !== undefined && asked !== '') return asked;
  if (uuidPattern.test(vmi.metadata.uid)) return vmi.metadata.uid;
  const digest = createHash('sha256').update(vmi.metadata.uid).digest('hex');
  return [8, 12, 16, 20, 32].map((end, index) => digest.slice([0, 8, 12, 16, 20][index], end)).join('-');
}

export function smbiosParts({ vmi }: MachineContext): Part[] {
  const { chassis, firmware } = vmi.spec.domain;
  const uuid = machineUuid(vmi);
  return [
    option('uuid', uuid),
    table(1, { ...system, uuid, serial: firmware?.serial, sku: chassis?.sku }),
    ...(chassis
      ? [
          table(3, {
            manufacturer: chassis.manufacturer,
            version: chassis.version,
            serial: chassis.serial,
            asset: chassis.asset,
            sku: chassis.sku,
          }),
        ]
      : []),
  ];
}

function table(type: number, fields: Record<string, string | undefined>): Part {
  const words = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${escapeComma(value ?? '')}`);
  return option('smbios', [`type=${type}`, ...words].join(','));
}
