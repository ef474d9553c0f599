import assert from 'node:assert/strict';
import test from 'node:test';
import { finalStates } from '../openapi/launcher/protocol.js';
import { isFinal, next, transitions } from './domain-states.js';

const states = Object.keys(transitions) as (keyof typeof transitions)[];

test('the final states of the protocol are those that lead nowhere', () => {
  assert.deepEqual(
    states.filter((state) => isFinal(state)),
    finalStates,
  );
});

test('every state can fail, or has ended', () => {
  for (const state of states) assert.equal(next(state, 'fail'), isFinal(state) ? undefined : 'Failed', state);
});

test('once asked to end a guest cannot run or pause again', () => {
  assert.equal(next('ShuttingDown', 'run'), undefined);
  assert.equal(next('ShuttingDown', 'pause'), undefined);
});
