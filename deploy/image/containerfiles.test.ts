/** A Containerfile makes what `npm run image` makes, with a registry's base. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { imageHolder } from '../../openapi/launcher/pod.js';
import { images } from './images.js';

/** Only where there is no base: it brings a shell's usual programs. */
const inBase = ['busybox-static'];

const containerfile = (name: string): Promise<string> =>
  readFile(path.join(import.meta.dirname, `${name}.Containerfile`), 'utf8');

for (const image of images)
  test(`${image.name} has the same packages, bundles, user, entry and environment`, async () => {
    const text = await containerfile(image.name);
    const packages = /install -y --no-install-recommends ([^&]+?) &&/.exec(text)?.[1]?.split(' ') ?? [];
    assert.deepEqual(
      packages,
      image.packages.filter((each) => !inBase.includes(each)),
    );
    const bundles = Array.from(text.matchAll(/dist\/([\w-]+)\.js(?= )/g), ([, bundle]) => bundle);
    for (const bundle of image.bundles) assert.ok(bundles.includes(bundle), bundle);
    const user = /^USER (\d+)/m.exec(text)?.[1] ?? '0';
    assert.equal(user, image.user);
    const [, entry = ''] = /^ENTRYPOINT (.*)$/m.exec(text) ?? [];
    assert.deepEqual(JSON.parse(entry), image.entrypoint);
    const { PATH, ...environment } = image.environment;
    assert.notEqual(PATH, undefined);
    for (const [name, value] of Object.entries(environment))
      assert.ok(text.includes(` ${name}=${value}`), name);
  });

test('the launcher has the program that keeps containers of disk images alive', async () => {
  assert.match(
    await containerfile('nativirt-launcher'),
    new RegExp(`--write-image-holder ${imageHolder.source}\\b`),
  );
});
