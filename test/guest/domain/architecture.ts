import { domainFacts } from './domain-facts.js';
import type { Row } from './rows.js';

export type Architecture = 'amd64' | 'arm64' | 's390x';

/** Rows do not say which architecture they were recorded for; what it alone brings along does. */
export function architectureOf({ spec, domain }: Row): Architecture {
  const facts = domainFacts(domain);
  // Its virtio devices are on a bus without generations.
  if (facts.get('device.balloon.model') === 'virtio' || facts.get('device.rng.model') === 'virtio')
    return 's390x';
  // It has a USB keyboard, or at least a controller, that nothing in the spec asks for.
  const usb = facts.get('device.controller.usb') !== undefined;
  const asked =
    spec.domain.devices.inputs?.some(({ bus }) => bus === undefined || bus === 'usb') ||
    facts.get('device.redirected.usb') !== undefined;
  const keyboard = facts.get('device.input.keyboard on usb') !== undefined;
  return keyboard || (usb && !asked) ? 'arm64' : 'amd64';
}
