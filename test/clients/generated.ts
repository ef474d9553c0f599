/**
 * Clients that OpenAPI Generator makes of the published documents: they compile, and create, watch and delete a VM. Run by
 * run.sh, which brings the generators and compilers.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startNativeServer, type NativeServer } from '../apiserver/native-server.js';
import { requestOf } from '../apiserver/test-server.js';
import { command } from '../e2e/harness.js';

const here = import.meta.dirname;
const kubevirt = '/openapi/v3/apis/kubevirt.io/v1';
const generators = path.resolve(here, '../../build/clients');
const javaLibraries = [
  ...['jackson-core', 'jackson-databind', 'jackson-annotations', 'jsr305', 'geronimo-annotation-1.3-spec'],
].map((name) => `/usr/share/java/${name}.jar`);

let server: NativeServer;
let directory: string;

before(async () => {
  server = await startNativeServer();
  directory = mkdtempSync(path.join(tmpdir(), 'nativirt-generated-'));
  writeFileSync(path.join(directory, 'ca.pem'), server.authority.cert);
});

after(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

async function run(file: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> {
  const environment = {
    ...process.env,
    NATIVIRT_SERVER: `https://127.0.0.1:${server.port}`,
    NATIVIRT_CA: path.join(directory, 'ca.pem'),
    NATIVIRT_TOKEN: 'admin',
    ...more,
  };
  const { code, stdout, stderr } = await command(file, args, { env: environment, timeoutMs: 300_000 });
  assert.equal(code, 0, `${path.basename(file)} ${args[0] ?? ''}: ${(stderr || stdout).slice(-3000)}`);
  return stdout;
}

interface Client {
  readonly generator: string;
  readonly language: string;
  readonly properties: string;
  readonly flags?: readonly string[];
}

/** Makes a client of the document in `output`. The document is checked too: the generator refuses one that is not valid. */
async function generate(document: string, output: string, client: Client): Promise<void> {
  const request = requestOf({ port: server.port, ca: server.authority.cert });
  const { text } = await request('GET', document, { token: 'admin' });
  const file = path.join(directory, 'document.json');
  writeFileSync(file, text);
  const { generator, language, properties, flags = [] } = client;
  await run('java', [
    ...['-jar', path.join(generators, `generator-${generator}.jar`), 'generate'],
    ...['-i', file, '-g', language, '-o', output, `--additional-properties=${properties}`, ...flags],
  ]);
}

const sees = (name: string): string => `ADDED ${name}\nDELETED ${name}\n`;

function scratch(name: string): string {
  const made = path.join(directory, name);
  mkdirSync(made, { recursive: true });
  return made;
}

test('Go', async () => {
  const gopath = scratch('go');
  const source = path.join(gopath, 'src/kubevirt');
  const properties = 'packageName=kubevirt';
  await generate(kubevirt, source, { generator: '4.3.1', language: 'go-experimental', properties });
  cpSync(path.join(here, 'go'), path.join(gopath, 'src/client'), { recursive: true });
  const go = '/usr/lib/go-1.19/bin/go';
  const environment = {
    ...{ GO111MODULE: 'off', GOPATH: `${gopath}:/usr/share/gocode` },
    GOCACHE: path.join(directory, 'go-cache'),
  };
  const program = path.join(gopath, 'program');
  await run(go, ['build', '-o', program, 'client'], environment);
  assert.equal(await run(program, []), sees('by-go'));
});

for (const [name, document] of Object.entries({ python: kubevirt, 'python-v2': '/openapi/v2' })) {
  test(`Python, of ${document}`, async () => {
    const output = scratch(name);
    const properties = 'packageName=kubevirt';
    await generate(document, output, { generator: '5.0.0-beta2', language: 'python', properties });
    const printed = await run('/usr/bin/python3', [path.join(here, 'python/main.py')], {
      PYTHONPATH: output,
    });
    assert.equal(printed, sees('by-python'));
  });
}

test('Java', async () => {
  const output = scratch('java');
  await generate(kubevirt, output, {
    generator: '5.0.0-beta2',
    language: 'java',
    properties: 'openApiNullable=false,hideGenerationTimestamp=true,dateLibrary=java8',
    flags: ['--library', 'native'],
  });
  const sources = readdirSync(path.join(output, 'src/main/java'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.java'))
    .map((file) => path.join(output, 'src/main/java', file));
  const shims = readdirSync(path.join(here, 'java/shims')).map((file) => path.join(here, 'java/shims', file));
  const classes = scratch('classes');
  const list = path.join(output, 'sources.txt');
  writeFileSync(list, [...sources, ...shims, path.join(here, 'java/Main.java')].join('\n'));
  const classPath = [...javaLibraries, classes].join(':');
  await run('javac', ['-nowarn', '-cp', classPath, '-d', classes, `@${list}`]);
  assert.equal(await run('java', ['-cp', classPath, 'Main']), sees('by-java'));
});
