// A launcher for tests: speaks the protocol, and starts `sleep` where a launcher starts QEMU. Beside the protocol's methods,
// `fake` changes its status as told, and ends it. Arguments as a launcher's; see ../../openapi/launcher/protocol.ts.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setImmediate } from 'node:timers';

const options = JSON.parse(process.env.FAKE_LAUNCHER ?? '{}');
if (options.exitCode !== undefined) process.exit(options.exitCode);
// A probe of the guest succeeds unless this file is there.
if (process.argv.includes('--probe')) process.exit(existsSync('probe-fails') ? 1 : 0);

const subscribers = new Set();
let qemu;
let writer;
let killTimer;
let status = {
  sequence: 0,
  state: 'Waiting',
  reason: 'Waiting',
  message: 'waiting for a virtual machine instance',
  guestAgentConnected: false,
};

function change(changes) {
  status = { ...status, ...changes, sequence: status.sequence + 1 };
  writeFileSync('status.json.tmp', JSON.stringify(status));
  renameSync('status.json.tmp', 'status.json');
  for (const socket of subscribers) send(socket, { method: 'statusChanged', params: status });
  if (['Shutoff', 'Failed', 'Killed'].includes(status.state))
    setImmediate(end, status.state === 'Failed' ? 1 : 0);
}

function end(code) {
  clearTimeout(killTimer);
  qemu?.kill('SIGKILL');
  server.close();
  rmSync('launcher.sock', { force: true });
  for (const socket of sockets) socket.end();
  process.exitCode = code;
}

function send(socket, body) {
  socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...body })}\n`);
}

function start({ vmi, settings }) {
  if (status.uid !== undefined && status.uid !== vmi.metadata.uid)
    throw { code: 1, message: 'it runs another VMI' };
  if (status.state !== 'Waiting') return;
  if (options.failStart !== undefined) {
    change({ uid: vmi.metadata.uid, state: 'Failed', ...options.failStart });
    return;
  }
  qemu = spawn('sleep', ['3600'], { stdio: 'ignore' });
  mkdirSync('qemu', { recursive: true });
  writeFileSync('qemu/qemu.pid', String(qemu.pid));
  if (settings !== undefined) writeFileSync('settings.json', JSON.stringify(settings));
  change({
    uid: vmi.metadata.uid,
    state: 'Running',
    reason: 'Started',
    message: 'the guest runs',
    qemuPid: qemu.pid,
    accelerator: options.accelerator ?? 'kvm',
    machineType: 'pc-q35-7.2',
    qemuVersion: '7.2.22',
  });
}

function shutdown({ gracePeriodSeconds }) {
  if (qemu === undefined || gracePeriodSeconds === 0) {
    setImmediate(change, {
      state: qemu === undefined ? 'Shutoff' : 'Killed',
      reason: 'Killed',
      message: 'killed',
    });
    return;
  }
  change({ state: 'ShuttingDown', reason: 'ShuttingDown', message: 'told to shut down' });
  clearTimeout(killTimer);
  if (options.ignoreShutdown) {
    killTimer = setTimeout(change, gracePeriodSeconds * 1000, {
      state: 'Killed',
      reason: 'GracePeriodExpired',
      message: 'killed',
    });
  } else {
    setImmediate(change, { state: 'Shutoff', reason: 'ShutdownRequested', message: 'the guest powered off' });
  }
}

function openConsole(socket, id, { mode }) {
  if (mode === 'write' && writer !== undefined)
    throw { code: 3, message: 'somebody writes to the console already' };
  if (mode === 'force') writer?.end('taken over\r\n');
  if (mode !== 'read') {
    writer = socket;
    socket.on('close', () => (writer = writer === socket ? undefined : writer));
  }
  send(socket, { id, result: { writer: mode !== 'read' } });
  socket.removeAllListeners('data');
  socket.on('data', (chunk) => socket.write(chunk));
}

/** The guest's ports are those of this machine. */
function forward(socket, id, { port }) {
  const guest = connect(port, '127.0.0.1');
  guest.on('error', () => send(socket, { id, error: { code: 5, message: `port ${port} refuses` } }));
  guest.on('connect', () => {
    send(socket, { id, result: null });
    socket.removeAllListeners('data');
    socket.pipe(guest).pipe(socket);
  });
}

function handle(socket, { id, method, params }) {
  switch (method) {
    case 'start':
      start(params);
      break;
    case 'shutdown':
      shutdown(params);
      break;
    case 'pause':
      change({ state: 'Paused', reason: 'PausedByUser' });
      break;
    case 'unpause':
      change({ state: 'Running', reason: 'Started' });
      break;
    case 'subscribe':
      subscribers.add(socket);
      break;
    case 'console':
      openConsole(socket, id, params);
      return;
    case 'portForward':
      forward(socket, id, params);
      return;
    case 'fake':
      change(params);
      break;
  }
  send(socket, { id, result: status });
}

const sockets = new Set();
const server = createServer((socket) => {
  sockets.add(socket);
  let text = '';
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    sockets.delete(socket);
    subscribers.delete(socket);
  });
  socket.on('data', (chunk) => {
    text += chunk;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
      const message = JSON.parse(text.slice(0, at));
      text = text.slice(at + 1);
      try {
        handle(socket, message);
      } catch (error) {
        send(socket, { id: message.id, error });
      }
    }
  });
});
process.on('SIGTERM', () => {
  if (!options.ignoreTerm) shutdown({ gracePeriodSeconds: 30 });
});
writeFileSync('arguments.json', JSON.stringify(process.argv.slice(2)));
server.listen('launcher.sock');
