import assert from 'node:assert/strict';
import test from 'node:test';
import { bridgeTable, nodeTable, translationTable } from './nftables.js';

const rules = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(iifname|oifname|ip6? )/.test(line));

test('ports that are listed are let in, of each protocol and family, and no others', () => {
  const text = translationTable([
    {
      podInterface: 'eth0',
      ipv4: '10.0.2.2',
      ipv6: 'fd10:0:2::2',
      ports: {
        ports: [{ port: 80 }, { port: 443 }, { port: 53, protocol: 'UDP' }],
        portRanges: [{ start: 8000, end: 8080, protocol: 'TCP' }],
      },
    },
  ]);
  assert.match(text, /^add table inet nativirt\ndelete table inet nativirt\ntable inet nativirt \{\n/);
  assert.deepEqual(rules(text), [
    'iifname "eth0" meta nfproto ipv4 tcp dport { 80, 443, 8000-8080 } dnat ip to 10.0.2.2',
    'iifname "eth0" meta nfproto ipv4 udp dport { 53 } dnat ip to 10.0.2.2',
    'iifname "eth0" meta nfproto ipv6 tcp dport { 80, 443, 8000-8080 } dnat ip6 to fd10:0:2::2',
    'iifname "eth0" meta nfproto ipv6 udp dport { 53 } dnat ip6 to fd10:0:2::2',
    'oifname "eth0" ip saddr 10.0.2.2 masquerade',
    'oifname "eth0" ip6 saddr fd10:0:2::2 masquerade',
  ]);
});

test('without a list everything is let in', () => {
  const text = translationTable([{ podInterface: 'eth0', ipv4: '10.0.2.2', ports: {} }]);
  assert.deepEqual(rules(text), [
    'iifname "eth0" meta nfproto ipv4 dnat ip to 10.0.2.2',
    'oifname "eth0" ip saddr 10.0.2.2 masquerade',
  ]);
});

test('what a bridged guest has for its launcher stays in the pod', () => {
  const text = bridgeTable([{ tap: 'tap0', server: '169.254.75.10', bridgeMac: 'fe:00:00:00:00:01' }]);
  assert.deepEqual(rules(text), [
    'iifname "tap0" ip daddr 169.254.75.10 ether daddr set fe:00:00:00:00:01 meta pkttype set host accept',
    'iifname "tap0" udp dport { 67, 547 } drop',
    'oifname "tap0" udp dport { 68, 546 } drop',
  ]);
});

test('what leaves the pods comes from the node', () => {
  const text = nodeTable('nativirt0', [
    { network: '10.244.0.0/16', ipv6: false },
    { network: 'fd10:244::/112', ipv6: true },
  ]);
  assert.match(text, /table inet nativirt-nativirt0 /);
  assert.deepEqual(rules(text), [
    'ip saddr 10.244.0.0/16 ip daddr != 10.244.0.0/16 masquerade',
    'ip6 saddr fd10:244::/112 ip6 daddr != fd10:244::/112 masquerade',
  ]);
});
