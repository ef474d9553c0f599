import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { encodeReply, messageTypes, optionCodes, parseRequest, type DhcpRequest } from './dhcp-message.js';
import { answer, type DhcpLease } from './dhcp-server.js';

const lease: DhcpLease = {
  mac: '02:00:00:00:00:01',
  ipv4: { address: '10.0.2.2', prefixLength: 24, server: '10.0.2.1', gateway: '10.0.2.1', routes: [] },
  mtu: 1450,
  hostName: 'vm',
  names: { servers: ['10.96.0.10', 'fd00::a'], searchDomains: ['ns.svc.cluster.local', 'local'] },
  options: undefined,
};

function discover(options: Buffer, mac = '020000000001'): Buffer {
  const message = Buffer.alloc(240);
  message.set([1, 1, 6, 0, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0x80, 0]);
  message.set(Buffer.from(mac, 'hex'), 28);
  message.set([0x63, 0x82, 0x53, 0x63], 236);
  return Buffer.concat([message, options]);
}

function asked(type: number, ...more: readonly number[]): DhcpRequest {
  const request = parseRequest(discover(Buffer.from([53, 1, type, ...more, 255])));
  assert.ok(request);
  return request;
}

/** The options of an answer, as a client finds them. */
function optionsOf(reply: Buffer): Map<number, string> {
  const found = new Map<number, string>();
  for (let at = 240; reply[at] !== 255;) {
    const code = reply[at] ?? 0;
    const length = reply[at + 1] ?? 0;
    found.set(code, reply.subarray(at + 2, at + 2 + length).toString('hex'));
    at += 2 + length;
  }
  return found;
}

test('an offer has the address, and everything that a guest wants to know', () => {
  const offer = answer(asked(messageTypes.discover), lease);
  assert.ok(offer);
  assert.equal(offer.subarray(0, 4).toString('hex'), '02010600');
  assert.equal(offer.subarray(4, 8).toString('hex'), 'deadbeef');
  assert.equal(offer.subarray(10, 12).toString('hex'), '8000');
  assert.deepEqual([...offer.subarray(16, 20)], [10, 0, 2, 2]);
  assert.deepEqual([...offer.subarray(20, 24)], [10, 0, 2, 1]);
  assert.equal(offer.subarray(28, 34).toString('hex'), '020000000001');
  assert.ok(offer.length >= 300);
  assert.deepEqual(Object.fromEntries(optionsOf(offer)), {
    53: '02',
    54: '0a000201',
    51: 'ffffffff',
    1: 'ffffff00',
    3: '0a000201',
    6: '0a60000a',
    12: Buffer.from('vm').toString('hex'),
    15: Buffer.from('ns.svc.cluster.local').toString('hex'),
    26: '05aa',
    119: Buffer.from('\x02ns\x03svc\x07cluster\x05local\x00\x05local\x00').toString('hex'),
  });
});

test('what the spec adds is told', () => {
  const options = {
    ntpServers: ['192.0.2.1'],
    tftpServerName: 'tftp',
    bootFileName: 'boot',
    privateOptions: [
      { option: 240, value: 'x' },
      { option: 3, value: 'not a private one' },
    ],
  };
  const reply = answer(asked(messageTypes.discover), { ...lease, options });
  assert.ok(reply);
  const found = optionsOf(reply);
  assert.equal(found.get(42), 'c0000201');
  assert.equal(found.get(66), Buffer.from('tftp').toString('hex'));
  assert.equal(found.get(67), Buffer.from('boot').toString('hex'));
  assert.equal(found.get(240), '78');
  assert.equal(found.get(3), '0a000201');
});

test('routes are told with the default one among them', () => {
  const ipv4 = {
    ...lease.ipv4,
    gateway: '169.254.1.1',
    routes: [
      { destination: '169.254.1.1/32', gateway: '0.0.0.0' },
      { destination: '10.96.0.0/12', gateway: '169.254.1.1' },
    ],
  };
  const reply = answer(asked(messageTypes.discover), { ...lease, ipv4 });
  assert.ok(reply);
  assert.equal(optionsOf(reply).get(121), ['20a9fe010100000000', '0c0a60a9fe0101', '00a9fe0101'].join(''));
});

test('a request for the address is granted, for another refused, to another server not answered', () => {
  const granted = answer(asked(messageTypes.request, 50, 4, 10, 0, 2, 2), lease);
  assert.equal(granted && optionsOf(granted).get(53), '05');
  const refused = answer(asked(messageTypes.request, 50, 4, 10, 0, 2, 9), lease);
  assert.equal(refused && optionsOf(refused).get(53), '06');
  assert.equal(answer(asked(messageTypes.request, 54, 4, 10, 9, 9, 9), lease), undefined);
  assert.equal(answer(asked(messageTypes.release), lease), undefined);
});

test('who asks for settings only gets no address', () => {
  const reply = answer(asked(messageTypes.inform), lease);
  assert.ok(reply);
  assert.deepEqual([...reply.subarray(16, 20)], [0, 0, 0, 0]);
  assert.equal(optionsOf(reply).has(optionCodes.leaseTime), false);
});

test('a value that is longer than an option is split', () => {
  const reply = encodeReply(asked(messageTypes.discover), {
    type: messageTypes.ack,
    address: '10.0.2.2',
    server: '10.0.2.1',
    options: [[119, Buffer.alloc(300, 1)]],
  });
  const first = reply.indexOf(Buffer.from([119, 255]));
  assert.deepEqual([...reply.subarray(first + 257, first + 259)], [119, 45]);
});

test('messages that are none are ignored, whatever they hold', () => {
  assert.equal(parseRequest(Buffer.alloc(10)), undefined);
  assert.equal(parseRequest(discover(Buffer.from([53, 200, 1]))), undefined);
  assert.equal(parseRequest(discover(Buffer.from([255]))), undefined);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      const message = Buffer.from(bytes);
      parseRequest(message);
      parseRequest(discover(message));
    }),
  );
});
