import type { CommandLine } from '../../../launcher/qemu/assemble.js';
import type { CpuPlacement } from '../../../launcher/qemu/placement.js';
import { Arguments, text } from './arguments.js';
import { deviceFacts } from './command-line-device-facts.js';
import { FactSheet, type Facts } from './facts.js';

/** The facts of our machine: its command line, and the CPUs that its threads are moved to. */
export function commandLineFacts(line: CommandLine, placement: CpuPlacement | undefined): Facts {
  const sheet = new FactSheet();
  const given = new Arguments(line);
  const machine = given.fields('machine')[0] ?? new Map<string, string>();
  cpuFacts(given, sheet);
  memoryFacts(given, sheet);
  bootFacts(given, machine, sheet);
  clockFacts(given, machine, sheet);
  securityFacts(given, sheet);
  pinFacts(placement, sheet);
  deviceFacts(given, line.commands, sheet);
  return sheet.all;
}

/** CPU properties that stand for something else than a feature of the processor. */
const cpuMeanings: Readonly<Record<string, (value: string, sheet: FactSheet) => void>> = {
  kvm: (value, sheet) => sheet.set('feature.kvmHidden', value === 'off' ? 'on' : 'off'),
  'kvm-pv-unhalt': (value, sheet) => sheet.set('feature.pvspinlock', value),
  kvmclock: (value, sheet) => sheet.set('clock.kvmclock.present', value),
  'hv-time': (value, sheet) => sheet.set('clock.hypervclock.present', value),
  'hv-crash': (_, sheet) => sheet.count('device.panic.hyperv'),
  pmu: (value, sheet) => sheet.set('feature.pmu', value),
  'tsc-frequency': (value, sheet) => sheet.set('clock.tsc.frequency', value),
};

function cpuFacts(given: Arguments, sheet: FactSheet): void {
  const [model = '', ...properties] = (given.all('cpu')[0] ?? '').split(',');
  sheet.set('cpu.model', model);
  for (const property of properties) {
    const [name = '', value = ''] = property.split('=');
    const meaning = cpuMeanings[name];
    if (meaning) meaning(value, sheet);
    else if (name.startsWith('hv-')) sheet.set(`feature.hyperv.${name.slice(3)}`, value);
    else sheet.set(`cpu.feature.${name}`, value);
  }
  const smp = given.fields('smp')[0];
  const count = (key: string) => smp?.get(key) ?? '';
  sheet.set(
    'cpu.topology',
    `${count('sockets')} sockets, ${count('cores')} cores, ${count('threads')} threads`,
  );
  sheet.set('cpu.most', count('maxcpus'));
  sheet.set('cpu.present', count('cpus'));
}

function memoryFacts(given: Arguments, sheet: FactSheet): void {
  const size = given.fields('m')[0]?.get('size')?.replace(/k$/, '');
  sheet.set('memory.size', Number(size) * 1024);
  const backends = given
    .objects('object')
    .filter((object) => text(object['qom-type'])?.startsWith('memory-'));
  for (const backend of backends) {
    if (backend['hugetlb'] !== true) continue;
    sheet.set('memory.hugepages', text(backend['hugetlbsize']));
    sheet.set('memory.allocation', backend['prealloc'] === true ? 'immediate' : undefined);
  }
  for (const value of given.all('numa')) {
    const cpus = [...value.matchAll(/cpus=(\d+)/g)].map(([, cpu]) => cpu);
    const node = /nodeid=(\d+)/.exec(value)?.[1];
    const backend = backends.find(({ id }) => id === /memdev=([^,]+)/.exec(value)?.[1]);
    sheet.set(`numa.${node}.memory`, text(backend?.['size']));
    sheet.set(`numa.${node}.cpus`, cpus.join(','));
    const nodes = backend?.['host-nodes'];
    sheet.set(`numa.${node}.hostNode`, Array.isArray(nodes) ? nodes.join(',') : undefined);
  }
}

function bootFacts(given: Arguments, machine: ReadonlyMap<string, string>, sheet: FactSheet): void {
  const secure = given.all('global').some((value) => value.includes('property=secure,value=on'));
  const flash = machine.has('pflash0');
  if (given.all('bios').length > 0) sheet.set('os.firmware', 'efi without variables');
  else sheet.set('os.firmware', flash ? 'efi' : 'bios');
  if (flash) sheet.set('os.secureBoot', secure ? 'on' : 'off');
  sheet.set('os.machine', machine.get('type')?.replace(/^pc-q35.*$/, 'q35'));
  for (const tag of ['kernel', 'initrd']) if (given.all(tag).length > 0) sheet.set(`os.${tag}`, 'given');
  sheet.set('os.kernelArguments', given.all('append')[0]);
  for (const table of given.fields('acpitable')) {
    sheet.set(
      `os.acpiTable.${table.get('sig')?.toLowerCase()}`,
      table.get('file')?.replace(/^volumes\//, ''),
    );
  }
  const boot = given.fields('boot')[0];
  const menu = boot?.get('menu');
  if (menu) sheet.set('os.bootMenu', `${menu}, ${boot?.get('splash-time')} ms`);
  for (const table of given.fields('smbios')) {
    if (table.get('type') !== '1') continue;
    for (const [name, value] of table) if (name !== 'type') sheet.set(`smbios.system.${name}`, value);
  }
  sheet.set('feature.acpi', machine.get('acpi') ?? 'on');
  sheet.set('feature.smm', machine.get('smm'));
  sheet.set('feature.vmport', machine.get('vmport'));
}

function clockFacts(given: Arguments, machine: ReadonlyMap<string, string>, sheet: FactSheet): void {
  const rtc = given.fields('rtc')[0];
  const base = rtc?.get('base');
  sheet.set('clock.base', base === 'localtime' ? 'timezone' : base);
  sheet.set('clock.hpet.present', machine.get('hpet'));
  sheet.set('clock.pit.present', machine.get('pit'));
  const clock = rtc?.get('clock');
  if (clock !== undefined) sheet.set('clock.rtc.track', clock === 'vm' ? 'guest' : 'wall');
  const driftfix = rtc?.get('driftfix');
  if (driftfix !== undefined) sheet.set('clock.rtc.tickPolicy', driftfix === 'slew' ? 'catchup' : 'delay');
  for (const global of given.all('global')) {
    sheet.set('device.controller.pci.hole64', /^q35-pcihost\.pci-hole64-size=(\d+)$/.exec(global)?.[1]);
    const policy = /^kvm-pit\.lost_tick_policy=(\w+)$/.exec(global)?.[1];
    if (machine.get('pit') !== 'off') sheet.set('clock.pit.tickPolicy', policy);
  }
}

function securityFacts(given: Arguments, sheet: FactSheet): void {
  const types: Readonly<Record<string, string>> = {
    'sev-guest': 'sev',
    'sev-snp-guest': 'sev-snp',
    'tdx-guest': 'tdx',
  };
  for (const object of given.objects('object')) {
    const type = types[text(object['qom-type']) ?? ''];
    if (type === undefined) continue;
    sheet.set('security.type', type);
    sheet.set('security.policy', text(object['policy']));
  }
}

function pinFacts(placement: CpuPlacement | undefined, sheet: FactSheet): void {
  placement?.vcpus.forEach((cpu, index) => sheet.set(`pin.vcpu.${index}`, cpu));
  for (const [id, cpus] of placement?.ioThreads ?? []) {
    sheet.set(`pin.iothread.${id.replace('iothread', '')}`, cpus.join(','));
  }
  sheet.set('pin.emulator', placement?.emulator?.join(','));
}
