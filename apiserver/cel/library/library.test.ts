import assert from 'node:assert/strict';
import test from 'node:test';
import { compileCel } from '../compile.js';
import { EvaluationError, valueOf } from '../values.js';

const object = valueOf({
  metadata: { name: 'vm', labels: { app: 'web', tier: 'front' }, creationTimestamp: '2026-01-02T03:04:05Z' },
  spec: { memory: '1536Mi', ports: [80, 443, 22], hosts: ['a', 'b', 'a'] },
});

const holds = (expressions: readonly string[]): void => {
  for (const text of expressions) assert.equal(compileCel(text)({ object }), true, text);
};

const fails = (table: Readonly<Record<string, RegExp>>): void => {
  for (const [text, message] of Object.entries(table))
    assert.throws(
      () => compileCel(text)({ object }),
      (error) => error instanceof EvaluationError && message.test(error.message),
      text,
    );
};

test('texts', () => {
  holds([
    '"tacocat".indexOf("ac") == 1 && "tacocat".indexOf("a", 2) == 5 && "x".indexOf("y") == -1',
    '"tacocat".lastIndexOf("ac") == 1 && "tacocat".lastIndexOf("at") == 5',
    '"tacocat".substring(4) == "cat" && "tacocat".substring(0, 4) == "taco"',
    '"äöü".charAt(1) == "ö" && "äöü".indexOf("ü") == 2',
    '"a-b-c".replace("-", "+") == "a+b+c" && "a-b-c".replace("-", "+", 1) == "a+b-c"',
    '"a,b,c".split(",", 2) == ["a", "b,c"] && "abc".split("") == ["a", "b", "c"]',
    '["a", "b"].join("-") == "a-b" && ["a", "b"].join() == "ab"',
    '"abc".reverse() == "cba"',
    '"%s is %d, %.2f %x %b %s".format(["a", 7, 1.5, 255, true, [1, "b"]]) == "a is 7, 1.50 ff 1 [1, \\"b\\"]"',
    'strings.quote("a\\"b\\n") == "\\"a\\\\\\"b\\\\n\\""',
  ]);
  fails({
    '"abc".substring(4)': /out of range: 4/,
    '"%d".format(["a"])': /decimal clause can only be used on integers, was given string/,
  });
});

test('lists and sets', () => {
  holds([
    'object.spec.ports.sum() == 545 && object.spec.ports.min() == 22 && object.spec.ports.max() == 443',
    '![80, 22].isSorted() && ["a", "b"].isSorted()',
    'object.spec.hosts.indexOf("b") == 1 && object.spec.hosts.lastIndexOf("a") == 2',
    '[[1], [2, [3]]].flatten() == [1, 2, [3]] && [[1], [2, [3]]].flatten(2) == [1, 2, 3]',
    'sets.contains(["a", "b"], ["b"]) && !sets.contains(["a"], ["b"])',
    'sets.equivalent(object.spec.hosts, ["b", "a"]) && sets.intersects([1, 2], [2, 3])',
    'object.spec.hosts.distinct() == ["a", "b"] && [3, 1, 2].sort() == [1, 2, 3] && [1, 2, 3].slice(1, 3) == [2, 3]',
  ]);
  fails({ '[].min()': /min called on empty list/ });
});

test('quantities', () => {
  holds([
    'quantity(object.spec.memory).isGreaterThan(quantity("1G"))',
    'quantity("1.5Gi").compareTo(quantity("1536Mi")) == 0 && quantity("1k") == quantity("1000")',
    'quantity("100m").add(quantity("0.9")).asInteger() == 1 && quantity("3").sub(5).sign() == -1',
    'isQuantity("1Gi") && !isQuantity("1Gigabyte") && quantity("50m").asApproximateFloat() == 0.05',
  ]);
  fails({ 'quantity("a lot")': /quantities must match/, 'quantity("1500m").asInteger()': /cannot convert/ });
});

test('addresses', () => {
  holds([
    'isIP("10.0.0.1") && isIP("::1") && !isIP("10.0.0.256") && !isIP("::ffff:1.2.3.4") && !isIP("fe80::1%eth0")',
    'ip("127.0.0.1").isLoopback() && ip("fe80::1").isLinkLocalUnicast() && ip("8.8.8.8").isGlobalUnicast()',
    'ip("2001:DB8:0:0:0:0:0:1") == ip("2001:db8::1") && ip.isCanonical("2001:db8::1") && !ip.isCanonical("2001:DB8::1")',
    'cidr("10.0.0.0/8").containsIP("10.1.2.3") && !cidr("10.0.0.0/8").containsIP(ip("11.0.0.1"))',
    'cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16") && cidr("10.1.2.3/8").masked() == cidr("10.0.0.0/8")',
    'cidr("2001:db8::/32").prefixLength() == 32 && cidr("10.0.0.0/8").ip().family() == 4',
    'string(ip("0:0:1:0:0:0:0:1")) == "0:0:1::1" && !isCIDR("10.0.0.0/33") && isCIDR("::/0")',
  ]);
  fails({ 'ip("nowhere")': /parse error/, 'cidr("10.0.0.0")': /parse error/ });
});

test('addresses of the web', () => {
  holds([
    'url("https://example.com:80/a%20b?k=1&k=2").getHost() == "example.com:80"',
    'url("https://[::1]:80/").getHostname() == "::1" && url("https://[::1]:80/").getPort() == "80"',
    'url("https://example.com/a%20b?k=1&k=2").getQuery()["k"] == ["1", "2"]',
    'url("/path").getScheme() == "" && url("/path").getEscapedPath() == "/path" && url("https://a").getEscapedPath() == ""',
    'isURL("https://a") && !isURL("not an address")',
  ]);
});

test('points in time and spans', () => {
  holds([
    'timestamp(object.metadata.creationTimestamp).getFullYear() == 2026',
    'timestamp("2026-01-01T00:00:00Z") < timestamp(object.metadata.creationTimestamp)',
    'timestamp("2026-01-02T00:00:00Z") - timestamp("2026-01-01T00:00:00Z") == duration("24h")',
    'duration("1h30m") + duration("0.5s") == duration("5400.5s") && duration("90m").getHours() == 1',
    'string(timestamp("2026-01-01T01:00:00.5+01:00")) == "2026-01-01T01:00:00.5+01:00"',
    'timestamp("2026-03-01T23:30:00Z").getDate("+01:00") == 2 && string(duration("-1.5s")) == "-1.5s"',
  ]);
  fails({ 'timestamp("yesterday")': /conversion error/, 'duration("1 day")': /conversion error/ });
});

test('formats and versions', () => {
  holds([
    'format.dns1123Label().validate("web-1") == optional.none()',
    'format.dns1123Label().validate("Web_1").hasValue()',
    'format.named("uuid").value().validate("x").hasValue() && !format.named("unheard").hasValue()',
    'semver("1.2.3").isLessThan(semver("1.10.0")) && semver("1.0.0-rc.1").isLessThan(semver("1.0.0"))',
    'isSemver("1.2.3") && !isSemver("v1.2") && isSemver("v1.2", true) && semver("1.2.3").minor() == 2',
  ]);
});

test('optionals', () => {
  holds([
    'object.?spec.?memory.orValue("") == "1536Mi" && object.?spec.?disk.orValue("none") == "none"',
    'object.?status.?phase.?deep.hasValue() == false && object.metadata.labels[?"app"].value() == "web"',
    'object.spec.ports[?9].orValue(0) == 0 && [?optional.none(), 1] == [1] && {?"a": optional.none()} == {}',
    'optional.of(2).optMap(x, x + 1).value() == 3 && object.?none.optMap(x, x).orValue(1) == 1',
    'optional.none().or(optional.of(1)).value() == 1 && !optional.ofNonZeroValue("").hasValue()',
    'has(object.?spec.memory) && !has(object.?status.phase)',
  ]);
});

test('macros with keys and values', () => {
  holds([
    'object.metadata.labels.all(key, value, key.size() > 2 && value.size() > 2)',
    'object.spec.ports.exists(index, port, index == 1 && port == 443)',
    'object.metadata.labels.transformMap(key, value, key == "app", value + "!") == {"app": "web!"}',
    'object.spec.ports.transformList(index, port, index + port) == [80, 444, 24]',
    'object.metadata.labels.transformMapEntry(key, value, {value: key})["web"] == "app"',
    'object.spec.hosts.existsOne(index, host, host == "b")',
  ]);
});

test('types', () => {
  holds([
    'type(1) == int && type("a") == string && type([]) == list && type(null) == null_type',
    'bool("true") && !bool("false") && string(1.5) == "1.5" && uint("3") == 3u',
  ]);
});

test('regular expressions', () => {
  holds([
    'object.metadata.name.matches("^v[a-m]$") && "a123b".find("[0-9]+") == "123" && "abc".find("[0-9]") == ""',
    '"1a22b333".findAll("[0-9]+") == ["1", "22", "333"] && "1a22b333".findAll("[0-9]+", 2) == ["1", "22"]',
  ]);
  fails({ '"a".matches("(")': /missing closing \)/ });
});
