/**
 * Clients that OpenAPI Generator makes of the published documents: they compile, and create, watch and delete a VM. Run by
 * run.sh, which brings the generators and compilers.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { parse } from 'yaml';
import { Cluster, command } from '../e2e/harness.js';

const here = import.meta.dirname;
const kubevirt = '/openapi/v3/apis/kubevirt.io/v1';
const generators = path.resolve(here, '../../build/clients');
const javaLibraries = [
  ...['jackson-core', 'jackson-databind', 'jackson-annotations', 'jsr305', 'geronimo-annotation-1.3-spec'],
].map((name) => `/usr/share/java/${name}.jar`);

/** A server, as clients are told of it, and a folder for what is made. */
interface Surroundings {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly cluster: Cluster;
}

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string };
  }[];
}

async function surroundings(t: TestContext): Promise<Surroundings> {
  const directory = mkdtempSync(path.join(tmpdir(), 'nativirt-generated-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const tokens = path.join(directory, 'tokens.csv');
  writeFileSync(tokens, 'secret,admin,1,system:masters\n');
  const cluster = await Cluster.start(t, { fakeQemu: true, flags: ['--token-auth-file', tokens] });
  const { clusters } = parse(readFileSync(cluster.kubeconfig, 'utf8')) as Kubeconfig;
  const authority = path.join(directory, 'ca.pem');
  const [entry] = clusters;
  assert.ok(entry);
  writeFileSync(authority, Buffer.from(entry.cluster['certificate-authority-data'], 'base64'));
  const environment = {
    NATIVIRT_SERVER: entry.cluster.server,
    NATIVIRT_CA: authority,
    NATIVIRT_TOKEN: 'secret',
  };
  return { directory, environment, cluster };
}

async function run(file: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> {
  const environment = { ...process.env, ...more };
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
async function generate(cluster: Cluster, document: string, output: string, client: Client): Promise<void> {
  const file = path.join(output, 'document.json');
  writeFileSync(file, await cluster.get(['get', '--raw', document]));
  const { generator, language, properties, flags = [] } = client;
  await run('java', [
    ...['-jar', path.join(generators, `generator-${generator}.jar`), 'generate'],
    ...['-i', file, '-g', language, '-o', output, `--additional-properties=${properties}`, ...flags],
  ]);
}

/** What a program prints: each event, of which there may be more while the machine goes. */
function assertSeen(printed: string, name: string): void {
  assert.match(printed, new RegExp(`^ADDED ${name}\\n(MODIFIED ${name}\\n)*DELETED ${name}\\n$`));
}

async function goClient({ directory, environment, cluster }: Surroundings): Promise<void> {
  const gopath = path.join(directory, 'go');
  const source = path.join(gopath, 'src/kubevirt');
  mkdirSync(source, { recursive: true });
  const properties = 'packageName=kubevirt';
  await generate(cluster, kubevirt, source, { generator: '4.3.1', language: 'go-experimental', properties });
  cpSync(path.join(here, 'go'), path.join(gopath, 'src/client'), { recursive: true });
  const program = path.join(gopath, 'program');
  await run('/usr/lib/go-1.19/bin/go', ['build', '-o', program, 'client'], {
    ...{ GO111MODULE: 'off', GOPATH: `${gopath}:/usr/share/gocode` },
    GOCACHE: path.join(directory, 'go-cache'),
  });
  assertSeen(await run(program, [], environment), 'by-go');
}

async function pythonClient(
  { directory, environment, cluster }: Surroundings,
  document: string,
): Promise<void> {
  const output = mkdtempSync(path.join(directory, 'python-'));
  const properties = 'packageName=kubevirt';
  await generate(cluster, document, output, { generator: '5.0.0-beta2', language: 'python', properties });
  const program = path.join(here, 'python/main.py');
  const printed = await run('/usr/bin/python3', [program], { ...environment, PYTHONPATH: output });
  assertSeen(printed, 'by-python');
}

async function javaClient({ directory, environment, cluster }: Surroundings): Promise<void> {
  const output = path.join(directory, 'java');
  const classes = path.join(output, 'classes');
  mkdirSync(classes, { recursive: true });
  await generate(cluster, kubevirt, output, {
    generator: '5.0.0-beta2',
    language: 'java',
    properties: 'openApiNullable=false,hideGenerationTimestamp=true,dateLibrary=java8',
    flags: ['--library', 'native'],
  });
  const sources = [path.join(output, 'src/main/java'), path.join(here, 'java')].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.java'))
      .map((file) => path.join(folder, file)),
  );
  const list = path.join(output, 'sources.txt');
  writeFileSync(list, sources.join('\n'));
  const classPath = [...javaLibraries, classes].join(':');
  await run('javac', ['-nowarn', '-cp', classPath, '-d', classes, `@${list}`]);
  assertSeen(await run('java', ['-cp', classPath, 'Main'], environment), 'by-java');
}

test('generated clients create, watch and delete a VM', async (t) => {
  const around = await surroundings(t);
  await t.test('Go', () => goClient(around));
  await t.test('Python', () => pythonClient(around, kubevirt));
  await t.test('Python, of OpenAPI v2', () => pythonClient(around, '/openapi/v2'));
  await t.test('Java', () => javaClient(around));
});
