import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  encodeMessage,
  encodeOption,
  linkLayerDuid,
  messageTypes,
  optionCodes,
  parseMessage,
} from './dhcpv6-message.js';
import { answer, type Dhcpv6Lease } from './dhcpv6-server.js';

const lease: Dhcpv6Lease = {
  ipv6: {
    address: 'fd10:0:2::2',
    prefixLength: 120,
    bridge: 'k6t-eth0',
    isRouter: true,
    icmp: { send: 1, receive: 2 },
  },
  serverMac: '02:00:00:00:00:01',
  names: { servers: ['10.96.0.10', 'fd00::a'], searchDomains: ['local'] },
};
const transaction = Buffer.from([1, 2, 3]);
const client = linkLayerDuid('02:00:00:00:00:02');
const server = linkLayerDuid(lease.serverMac);
const association = encodeOption(
  optionCodes.nonTemporaryAddresses,
  Buffer.from('aabbccdd0000000000000000', 'hex'),
);

function ask(type: number, ...options: readonly Buffer[]) {
  const request = parseMessage(encodeMessage(type, transaction, options));
  assert.ok(request);
  const bytes = answer(request, lease);
  return bytes && parseMessage(bytes);
}

test('a client is told its address, then given it', () => {
  const id = encodeOption(optionCodes.clientId, client);
  const advertised = ask(messageTypes.solicit, id, association);
  assert.equal(advertised?.type, messageTypes.advertise);
  assert.deepEqual(advertised.transaction, transaction);
  assert.deepEqual(advertised.options.get(optionCodes.clientId), client);
  const chosen = advertised.options.get(optionCodes.serverId);
  assert.deepEqual(chosen, server);
  const given = ask(messageTypes.request, id, encodeOption(optionCodes.serverId, server), association);
  assert.equal(given?.type, messageTypes.reply);
  assert.equal(
    given.options.get(optionCodes.nonTemporaryAddresses)?.toString('hex'),
    [
      'aabbccdd',
      'ffffffffffffffff',
      '00050018',
      'fd10000000020000',
      '0000000000000002',
      'ffffffffffffffff',
    ].join(''),
  );
  assert.equal(
    given.options.get(optionCodes.nameServers)?.toString('hex'),
    'fd00000000000000000000000000000a',
  );
  assert.equal(given.options.get(optionCodes.domainList)?.toString('latin1'), '\x05local\x00');
});

test('a client in a hurry gets it at once', () => {
  const rapid = encodeOption(optionCodes.rapidCommit, Buffer.alloc(0));
  const reply = ask(messageTypes.solicit, encodeOption(optionCodes.clientId, client), rapid, association);
  assert.equal(reply?.type, messageTypes.reply);
  assert.ok(reply.options.has(optionCodes.rapidCommit));
});

test('what is meant for another server, or comes from one, is not answered', () => {
  const id = encodeOption(optionCodes.clientId, client);
  assert.equal(
    ask(messageTypes.request, id, encodeOption(optionCodes.serverId, client), association),
    undefined,
  );
  assert.equal(ask(messageTypes.advertise, id), undefined);
  assert.equal(ask(messageTypes.solicit), undefined);
});

test('messages of any bytes do no harm', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const request = parseMessage(Buffer.from(bytes));
      if (request !== undefined) answer(request, lease);
    }),
  );
});
