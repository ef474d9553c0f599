import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import test from 'node:test';
import { gunzipSync } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { addMergedLinks, FileTree } from './file-tree.js';
import { makeLayer, sha256 } from './layer.js';
import { dependencyFolders } from './npm-packages.js';
import { makeOciArchive } from './oci-archive.js';

interface Member {
  readonly header: Header;
  readonly content: Buffer;
}

async function membersOf(archive: Buffer): Promise<Map<string, Member>> {
  const members = new Map<string, Member>();
  for await (const entry of Readable.from([archive]).pipe(extract())) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    members.set(entry.header.name, { header: entry.header, content: Buffer.concat(chunks) });
  }
  return members;
}

function treeOf(files: Readonly<Record<string, string>>): FileTree {
  const tree = new FileTree();
  for (const [path, content] of Object.entries(files)) tree.addFile(path, content);
  return tree;
}

test('a tree has its directories before what is in them, and what Debian has merged is in /usr', () => {
  const tree = treeOf({ 'usr/share/b': '', './lib/x86_64-linux-gnu/libc.so': 'c' });
  tree.add('lib/', { type: 'directory' });
  addMergedLinks(tree);
  assert.deepEqual(
    tree.entries().map(([path]) => path),
    [
      'bin',
      'lib',
      'lib64',
      'sbin',
      'usr',
      'usr/lib',
      'usr/lib/x86_64-linux-gnu',
      'usr/lib/x86_64-linux-gnu/libc.so',
      'usr/share',
      'usr/share/b',
    ],
  );
  assert.deepEqual(tree.get('lib'), { type: 'symlink', target: 'usr/lib' });
  assert.throws(() => {
    tree.addFile('usr/../../etc/passwd', '');
  }, /leaves the image's root/);
});

test('the same files make the same layer, in whichever order they came', async () => {
  const first = await makeLayer(treeOf({ 'a/x': '1', 'a/y': '2', b: '3' }), 0);
  const second = await makeLayer(treeOf({ b: '3', 'a/y': '2', 'a/x': '1' }), 0);
  assert.deepEqual(first, second);
  assert.notEqual((await makeLayer(treeOf({ 'a/x': '1', 'a/y': '2', b: '4' }), 0)).digest, first.digest);
  assert.notEqual((await makeLayer(treeOf({ 'a/x': '1', 'a/y': '2', b: '3' }), 1)).digest, first.digest);
});

test('whatever a file was here, in a layer it is root’s and of one time', async () => {
  const tree = treeOf({ 'etc/motd': 'hello' });
  tree.addFile('usr/bin/run', '#!/bin/sh\n', true);
  tree.add('tmp', { type: 'directory', sticky: true });
  const members = await membersOf(gunzipSync((await makeLayer(tree, 86_400)).compressed));
  const seen = [...members].map(([name, { header }]) => [
    name,
    header.mode.toString(8),
    header.uid,
    header.mtime,
  ]);
  const day = new Date(86_400_000);
  assert.deepEqual(seen, [
    ['etc/', '755', 0, day],
    ['etc/motd', '644', 0, day],
    ['tmp/', '1777', 0, day],
    ['usr/', '755', 0, day],
    ['usr/bin/', '755', 0, day],
    ['usr/bin/run', '755', 0, day],
  ]);
});

test('an archive holds what its manifest names, under its digest', async () => {
  const layers = [await makeLayer(treeOf({ base: '' }), 0), await makeLayer(treeOf({ more: '' }), 0)];
  const config = {
    name: 'example.org/part',
    tag: '1',
    architecture: 'amd64',
    entrypoint: ['part'],
    user: '65532',
    environment: { PATH: '/usr/bin' },
    labels: {},
  };
  const { archive, digest } = await makeOciArchive(config, layers, 0);
  assert.deepEqual(await makeOciArchive(config, layers, 0), { archive, digest });
  const members = await membersOf(archive);
  const blob = (of: string): Buffer => {
    const content = members.get(`blobs/${of.replace(':', '/')}`)?.content;
    assert.ok(content, `there is no blob ${of}`);
    assert.equal(sha256(content), of);
    return content;
  };
  const index = JSON.parse(String(members.get('index.json')?.content)) as {
    manifests: { digest: string; annotations: Record<string, string> }[];
  };
  assert.deepEqual(
    index.manifests.map((each) => [each.digest, each.annotations['io.containerd.image.name']]),
    [[digest, 'example.org/part:1']],
  );
  const manifest = JSON.parse(String(blob(digest))) as {
    config: { digest: string };
    layers: { digest: string; size: number }[];
  };
  assert.deepEqual(
    manifest.layers.map((layer) => [layer.digest, layer.size]),
    layers.map(({ digest: of, compressed }) => [of, compressed.length]),
  );
  const { rootfs } = JSON.parse(String(blob(manifest.config.digest))) as { rootfs: { diff_ids: string[] } };
  assert.deepEqual(
    rootfs.diff_ids,
    manifest.layers.map((layer) => sha256(gunzipSync(blob(layer.digest)))),
  );
});

test('packages are found as Node finds them: the nearest above', () => {
  const lock = {
    packages: {
      'node_modules/a': { dependencies: { b: '1', c: '1' } },
      'node_modules/a/node_modules/b': { dependencies: { c: '1' } },
      'node_modules/b': { dependencies: { unused: '1' } },
      'node_modules/@scope/c': {},
      'node_modules/c': { dependencies: { '@scope/c': '1', a: '1' } },
      'node_modules/unused': {},
    },
  };
  assert.deepEqual(dependencyFolders(lock, ['a']), [
    'node_modules/@scope/c',
    'node_modules/a',
    'node_modules/a/node_modules/b',
    'node_modules/c',
  ]);
  assert.throws(() => dependencyFolders(lock, ['z']), /package-lock.json has no z/);
});
