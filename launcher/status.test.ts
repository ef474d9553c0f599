import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import type { DomainStatus } from '../openapi/launcher/protocol.js';
import { silentLogger } from './log.js';
import { StatusStore } from './status.js';

function inDirectory(body: (path: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-status-'));
  try {
    body(join(directory, 'status.json'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as DomainStatus;

test('every change counts on, is written, and is told', () => {
  inDirectory((path) => {
    const store = new StatusStore('u', silentLogger, path);
    const told: DomainStatus[] = [];
    const stop = store.subscribe((status) => told.push(status));
    assert.deepEqual([read(path).state, read(path).sequence], ['Waiting', 0]);
    store.update({ state: 'Preparing' });
    store.update({ state: 'Running', qemuPid: 7 });
    stop();
    store.update({ qemuPid: undefined });
    assert.deepEqual(
      told.map(({ sequence, state, qemuPid }) => [sequence, state, qemuPid]),
      [
        [1, 'Preparing', undefined],
        [2, 'Running', 7],
      ],
    );
    assert.deepEqual([read(path).sequence, read(path).qemuPid], [3, undefined]);
  });
});

test('a status that cannot be put beside the last one is written over it', () => {
  inDirectory((path) => {
    const store = new StatusStore('u', silentLogger, path);
    store.update({ message: 'a long message '.repeat(20) });
    mkdirSync(`${path}.part`);
    store.update({ state: 'Failed', message: 'short' });
    assert.deepEqual([read(path).state, read(path).message], ['Failed', 'short']);
  });
});
