#!/usr/bin/env -S node --max-semi-space-size=1 --v8-pool-size=0 --single-threaded-gc
// Stands in for qemu-system-x86_64: the same command line, QMP, pidfile, serial console and guest agent, but no guest.
// Cheap enough to run by the hundred. FAKE_QEMU, a list of words, changes what it does:
//   refuse            end with an error before QMP, as QEMU does when it cannot make the machine
//   ignore-powerdown  the guest does not power off on the ACPI button
//   crash             die when the guest is to run
//   no-agent          the guest has no agent
// Each forwarded TCP port, and the VNC display, echoes what it gets.
// On the serial console the guest has a login prompt, echoes what is typed, and obeys the lines poweroff, reboot, panic and
// flood BYTES: it says so many, as fast as they are read.
import { rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setImmediate } from 'node:timers';

const argv = process.argv.slice(2);
const behaviour = new Set((process.env.FAKE_QEMU ?? '').split(/[ ,]+/));
const hostname = 'fake-guest';

if (argv.includes('--version') || argv.includes('-version')) {
  console.log('QEMU emulator version 7.2.0 (fake-qemu)');
  process.exit(0);
}
if (behaviour.has('refuse')) {
  console.error('fake-qemu: -device refused: told to refuse by FAKE_QEMU');
  process.exit(1);
}

/** The values of an option that may be given more than once. */
const values = (name) => argv.flatMap((word, index) => (argv[index - 1] === name ? [argv[index]] : []));
const fields = (text) => new Map(text.split(',').map((word) => word.split(/=(.*)/s).slice(0, 2)));
const chardevs = new Map(values('-chardev').map((text) => [fields(text).get('id'), fields(text)]));
const devices = values('-device').map((text) => JSON.parse(text));
const rebootAction = values('-action').includes('reboot=shutdown') ? 'shutdown' : 'reset';
let shutdownAction = 'poweroff';

let running = !argv.includes('-S');
let booted = false;
let qmp;
let serial;
let agent;

const say = (message) => qmp?.write(`${JSON.stringify(message)}\r\n`);
const event = (name, data) => {
  const now = Date.now();
  const timestamp = { seconds: Math.floor(now / 1000), microseconds: (now % 1000) * 1000 };
  say({ timestamp, event: name, ...(data ? { data } : {}) });
};

/** Calls `use` with the connected socket of a chardev, whichever side listens. */
function open(id, use) {
  const chardev = chardevs.get(id);
  if (!chardev) return;
  const path = chardev.get('path');
  if (chardev.get('server') === 'on') {
    rmSync(path, { force: true });
    createServer(use).listen(path);
    return;
  }
  const refused = (error) => {
    console.error(`fake-qemu: -chardev ${id}: ${error.message}`);
    process.exit(1);
  };
  const socket = connect(path, () => {
    socket.off('error', refused);
    use(socket);
  });
  socket.on('error', refused);
}

function onLines(socket, handle) {
  let rest = '';
  socket.on('data', (chunk) => {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.trim() !== '') handle(line);
  });
}

function end(code) {
  const sockets = [qmp, serial, agent].filter(Boolean);
  for (const socket of sockets) socket.end();
  setImmediate(() => process.exit(code));
}

function shutdown(guest, reason) {
  running = false;
  event('SHUTDOWN', { guest, reason });
  if (guest && shutdownAction === 'pause') event('STOP');
  else end(0);
}

const forwards = new Map();

/** The monitor's hostfwd_add and hostfwd_remove; a guest that listens on every TCP port. */
function monitorCommand(line) {
  const [command, , rule = ''] = line.split(' ');
  const [protocol, host, port] = rule.split(/[:-]/);
  const key = `${protocol}:${host}:${port}`;
  if (command === 'hostfwd_add') {
    const server = createServer((socket) => socket.on('error', () => socket.destroy()).pipe(socket));
    forwards.set(key, server);
    return new Promise((resolve) => server.listen(Number(port), host, () => resolve('')));
  }
  if (command !== 'hostfwd_remove') return `unknown command: '${command}'\r\n`;
  forwards.get(key)?.close();
  const known = forwards.delete(key);
  return `host forwarding rule for ${key} ${known ? 'removed' : 'not found'}\r\n`;
}

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
);

const commands = {
  qmp_capabilities: () => ({}),
  'query-status': () => ({ running, status: running ? 'running' : booted ? 'paused' : 'prelaunch' }),
  'query-version': () => greeting.version,
  cont: () => {
    if (behaviour.has('crash')) {
      console.error('fake-qemu: told to crash by FAKE_QEMU');
      process.exit(134);
    }
    if (!running) event('RESUME');
    running = true;
    setImmediate(boot);
    return {};
  },
  stop: () => {
    if (running) event('STOP');
    running = false;
    return {};
  },
  system_powerdown: () => {
    event('POWERDOWN');
    if (running && !behaviour.has('ignore-powerdown')) setImmediate(() => shutdown(true, 'guest-shutdown'));
    return {};
  },
  system_reset: () => {
    setImmediate(() => reset(false));
    return {};
  },
  'set-action': ({ shutdown }) => {
    shutdownAction = shutdown ?? shutdownAction;
    return {};
  },
  screendump: ({ filename }) => {
    writeFileSync(filename, png);
    return {};
  },
  'input-send-event': () => ({}),
  'human-monitor-command': ({ 'command-line': line }) => monitorCommand(line),
  quit: () => {
    setImmediate(() => shutdown(false, 'host-qmp-quit'));
    return {};
  },
};

const greeting = {
  version: { qemu: { micro: 0, minor: 2, major: 7 }, package: 'fake-qemu' },
  capabilities: ['oob'],
};

function serveQmp(socket) {
  qmp = socket;
  socket.on('error', () => socket.destroy());
  socket.write(`${JSON.stringify({ QMP: greeting })}\r\n`);
  onLines(socket, (line) => {
    const { id, execute, 'exec-oob': outOfBand, arguments: parameters = {} } = JSON.parse(line);
    const command = execute ?? outOfBand;
    const run = commands[command];
    const result = run?.(parameters);
    if (result instanceof Promise) result.then((value) => say({ return: value, id }));
    else if (run) say({ return: result, id });
    else say({ id, error: { class: 'CommandNotFound', desc: `The command ${command} has not been found` } });
  });
}

function serveSerial(socket) {
  serial = socket;
  socket.on('error', () => socket.destroy());
  let line = '';
  socket.on('data', (chunk) => {
    socket.write(chunk);
    line += chunk.toString('latin1');
    const lines = line.split(/[\r\n]+/);
    line = lines.pop().slice(-100);
    for (const typed of lines) obey(typed.trim());
  });
}

/** A marker line, then the bytes: blocks of 64 KiB that are all the same. */
function flood(size) {
  const block = Buffer.from(Array.from({ length: 65536 }, (_, index) => (index * 31 + (index >> 8)) & 0xff));
  let left = Number(size);
  serial.write('FLOOD\n');
  const more = () => {
    while (left > 0) {
      left -= block.length;
      if (!serial.write(block)) return void serial.once('drain', more);
    }
  };
  more();
}

function obey(line) {
  const [, bytes] = /^flood (\d+)$/.exec(line) ?? [];
  if (bytes) flood(bytes);
  else if (line === 'poweroff') shutdown(true, 'guest-shutdown');
  else if (line === 'reboot') reset(true);
  else if (line === 'panic') {
    event('GUEST_PANICKED', { action: 'shutdown' });
    shutdown(true, 'guest-panic');
  } else if (line !== '') serial.write(`\r\n${hostname}:~# `);
}

function boot() {
  if (booted) return;
  booted = true;
  serial?.write(`fake-qemu: no guest, only its console\r\n\r\n${hostname} login: `);
  const port = devices.find(({ driver }) => driver === 'virtserialport');
  if (agent && port && !behaviour.has('no-agent')) event('VSERPORT_CHANGE', { open: true, id: port.id });
}

function reset(guest) {
  const reason = guest ? 'guest-reset' : 'host-qmp-system-reset';
  if (guest && rebootAction === 'shutdown') return shutdown(true, reason);
  event('RESET', { guest, reason });
  const port = devices.find(({ driver }) => driver === 'virtserialport');
  if (booted && agent && port && !behaviour.has('no-agent'))
    event('VSERPORT_CHANGE', { open: false, id: port.id });
  booted = false;
  if (running) boot();
}

let frozen = false;
const freeze = (wanted) => () => {
  const changed = frozen !== wanted;
  frozen = wanted;
  return changed ? 1 : 0;
};
const agentAnswers = {
  'guest-ping': () => ({}),
  'guest-info': () => ({
    version: '7.2.0',
    supported_commands: Object.keys(agentAnswers).map((name) => ({
      name,
      enabled: true,
      'success-response': true,
    })),
  }),
  'guest-get-timezone': () => ({ zone: 'UTC', offset: 0 }),
  'guest-get-users': () => [{ user: 'root', 'login-time': 1700000000.5 }],
  'guest-get-fsinfo': () => [
    {
      name: 'vda1',
      mountpoint: '/',
      type: 'ext4',
      'used-bytes': 1000,
      'total-bytes': 4000,
      disk: [{ 'bus-type': 'virtio', serial: 'root' }],
    },
  ],
  'guest-fsfreeze-status': () => (frozen ? 'frozen' : 'thawed'),
  'guest-fsfreeze-freeze': freeze(true),
  'guest-fsfreeze-thaw': freeze(false),
  'guest-sync-delimited': ({ id }) => id,
  'guest-get-host-name': () => ({ 'host-name': hostname }),
  'guest-get-osinfo': () => ({ id: 'fake', name: 'Fake guest', 'kernel-release': '1.0', machine: 'x86_64' }),
  'guest-network-get-interfaces': () => [
    {
      name: 'eth0',
      'hardware-address': devices.find(({ mac }) => mac)?.mac ?? '02:00:00:00:00:01',
      'ip-addresses': [{ 'ip-address-type': 'ipv4', 'ip-address': '10.0.2.15', prefix: 24 }],
    },
  ],
};

function serveAgent(socket) {
  agent = socket;
  socket.on('error', () => socket.destroy());
  onLines(socket, (line) => {
    const { execute, arguments: parameters = {} } = JSON.parse(line.slice(line.lastIndexOf('\u00ff') + 1));
    if (execute === 'guest-shutdown') return void setImmediate(() => reset(true));
    const answer = agentAnswers[execute];
    const message = answer
      ? { return: answer(parameters) }
      : { error: { class: 'CommandNotFound', desc: `The command ${execute} has not been found` } };
    if (execute === 'guest-sync-delimited') socket.write(Buffer.from([0xff]));
    socket.write(`${JSON.stringify(message)}\n`);
  });
}

for (const display of values('-vnc')) {
  const path = display.replace(/^unix:/, '').split(',')[0];
  rmSync(path, { force: true });
  createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.write('RFB 003.008\n');
    socket.pipe(socket);
  }).listen(path);
}
for (const path of values('-pidfile')) writeFileSync(path, `${process.pid}\n`);
const monitor = values('-mon').map((text) => fields(text).get('chardev'))[0];
open('serial0', serveSerial);
open('agent', serveAgent);
open(monitor, serveQmp);
process.on('SIGTERM', () => shutdown(false, 'host-signal'));
