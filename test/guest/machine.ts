/** The guest under QEMU alone, without any of Nativirt around it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { SerialSession, streamPort } from '../../deploy/demo/serial-session.js';
import { isoImage } from '../../launcher/disks/iso9660/image.js';
import { kernelArguments } from './disk.js';

const images = resolve(import.meta.dirname, '../../build/guest');

export interface MachineOptions {
  readonly boot: 'disk' | 'kernel';
  /** Files of the NoCloud seed. */
  readonly seed: Readonly<Record<string, string>>;
}

/** Listens where QEMU will connect, and answers that connection. */
async function accept(directory: string, name: string): Promise<{ server: Server; socket: Promise<Socket> }> {
  const server = createServer();
  const socket = once(server, 'connection').then(([connection]) => connection as Socket);
  server.listen(join(directory, name));
  await once(server, 'listening');
  return { server, socket };
}

export class Machine {
  private constructor(
    private readonly qemu: ChildProcess,
    readonly serial: SerialSession,
    private readonly monitor: Socket,
    private readonly agent: Socket,
  ) {}

  static async start(t: TestContext, { boot, seed }: MachineOptions): Promise<Machine> {
    const directory = mkdtempSync(join(tmpdir(), 'nativirt-guest-test-'));
    const channels = await Promise.all(['serial', 'monitor', 'agent'].map((name) => accept(directory, name)));
    const files = Object.entries(seed).map(([path, content]) => ({ path, content: Buffer.from(content) }));
    writeFileSync(join(directory, 'seed.iso'), isoImage('cidata', files));
    const qemu = spawn('qemu-system-x86_64', [...commonArguments(), ...bootArguments(boot)], {
      cwd: directory,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    t.after(async () => {
      if (qemu.exitCode === null && qemu.signalCode === null) {
        qemu.kill('SIGKILL');
        await once(qemu, 'exit');
      }
      channels.forEach(({ server }) => server.close());
      rmSync(directory, { recursive: true });
    });
    const [serial, monitor, agent] = await Promise.all(channels.map(({ socket }) => socket));
    if (serial === undefined || monitor === undefined || agent === undefined)
      throw new Error('QEMU did not connect');
    return new Machine(qemu, new SerialSession(streamPort(serial)), monitor, agent);
  }

  private async ask(socket: Socket, execute: string): Promise<unknown> {
    socket.write(`${JSON.stringify({ execute })}\n`);
    for await (const line of createInterface({ input: socket })) {
      const answer: unknown = JSON.parse(line);
      if (typeof answer === 'object' && answer !== null && 'return' in answer) return answer.return;
    }
    throw new Error(`no answer to ${execute}`);
  }

  /** A command of the guest agent. */
  guestAgent(execute: string): Promise<unknown> {
    return this.ask(this.agent, execute);
  }

  /** Presses the ACPI power button and waits until QEMU has ended; answers its exit code. */
  async powerDown(): Promise<number | null> {
    const exited = once(this.qemu, 'exit');
    this.monitor.write('{"execute":"qmp_capabilities"}\n{"execute":"system_powerdown"}\n');
    const [code] = (await exited) as [number | null];
    return code;
  }
}

function accelerator(): 'kvm' | 'tcg' {
  try {
    accessSync('/dev/kvm', constants.R_OK | constants.W_OK);
    return 'kvm';
  } catch {
    return 'tcg';
  }
}

function commonArguments(): string[] {
  return [
    ...[
      '-machine',
      `q35,accel=${accelerator()}`,
      '-cpu',
      'max',
      '-m',
      '128',
      '-display',
      'none',
      '-nodefaults',
    ],
    ...['-chardev', 'socket,id=serial,path=serial', '-serial', 'chardev:serial'],
    ...['-chardev', 'socket,id=monitor,path=monitor', '-mon', 'chardev=monitor,mode=control'],
    ...['-device', 'virtio-serial-pci', '-chardev', 'socket,id=agent,path=agent'],
    ...['-device', 'virtserialport,chardev=agent,name=org.qemu.guest_agent.0'],
    ...['-netdev', 'user,id=net,restrict=on', '-device', 'virtio-net-pci,netdev=net,mac=52:54:00:00:00:01'],
    ...[
      '-drive',
      'file=seed.iso,if=none,id=seed,format=raw,readonly=on',
      '-device',
      'virtio-blk-pci,drive=seed',
    ],
  ];
}

function bootArguments(boot: MachineOptions['boot']): string[] {
  if (boot === 'kernel') {
    const files = ['-kernel', join(images, 'vmlinuz'), '-initrd', join(images, 'initrd')];
    return [...files, '-append', kernelArguments.join(' ')];
  }
  const disk = `file=${join(images, 'disk.qcow2')},if=none,id=disk,snapshot=on`;
  return ['-drive', disk, '-device', 'virtio-blk-pci,drive=disk,bootindex=1'];
}
