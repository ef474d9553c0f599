/**
 * Bundles each component into dist/: `node deploy/build/build.mjs [--only NAME[,NAME…]]`.
 *
 * npm packages stay outside the bundles, in node_modules. The launcher has none at all, which is checked here, because
 * there is one for each virtual machine.
 */
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');
const output = join(root, 'dist');

const entryPoints = {
  nativirt: 'deploy/nativirt.ts',
  apiserver: 'deploy/commands/apiserver.ts',
  'policy-worker': 'apiserver/policy/worker.ts',
  controllers: 'deploy/commands/controllers.ts',
  'node-agent': 'deploy/commands/node-agent.ts',
  import: 'deploy/commands/import.ts',
  launcher: 'deploy/commands/launcher.ts',
  standalone: 'deploy/commands/standalone.ts',
  'kubectl-virt': 'cli/main.ts',
};

class BuildError extends Error {}

function chosenNames(only) {
  if (only === undefined) return Object.keys(entryPoints);
  const names = only.split(',');
  const unknown = names.filter((name) => !Object.hasOwn(entryPoints, name));
  if (unknown.length > 0) {
    throw new BuildError(`no bundle ${unknown.join(', ')}; there are ${Object.keys(entryPoints).join(', ')}`);
  }
  return names;
}

function checkEntries(names) {
  const missing = names.map((name) => entryPoints[name]).filter((path) => !existsSync(join(root, path)));
  if (missing.length > 0) throw new BuildError(`missing entry ${missing.join(', ')}`);
}

/** What a bundle still imports when it runs. */
function checkLauncher(metafile) {
  const bundle = Object.entries(metafile.outputs).find(([path]) => path.endsWith('launcher.js'));
  if (bundle === undefined) return;
  const packages = bundle[1].imports.map(({ path }) => path).filter((path) => !isBuiltin(path));
  if (packages.length > 0) {
    throw new BuildError(`the launcher must not import packages, but imports ${packages.join(', ')}`);
  }
}

/** The npm packages that each bundle loads when it runs. */
function importsOf(metafile) {
  const bundles = Object.entries(metafile.outputs).filter(([path]) => path.endsWith('.js'));
  return Object.fromEntries(
    bundles.map(([path, { imports }]) => [
      basename(path, '.js'),
      [...new Set(imports.map(({ path }) => path))].filter((path) => !isBuiltin(path)).sort(),
    ]),
  );
}

/** What `kubectl virt vnc` gives to browsers, noVNC included. */
async function bundlePage() {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { 'vnc-page': 'cli/vnc-page/page.mjs' },
    outdir: output,
    bundle: true,
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    minify: true,
    legalComments: 'inline',
    write: false,
    logLevel: 'warning',
  });
  return outputFiles;
}

async function bundle(names) {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: names.map((name) => ({ in: entryPoints[name], out: name })),
    outdir: output,
    bundle: true,
    platform: 'node',
    target: 'node20.18',
    format: 'esm',
    packages: 'external',
    sourcemap: 'linked',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  checkLauncher(metafile);
  const pages = names.includes('kubectl-virt') ? await bundlePage() : [];
  await mkdir(output, { recursive: true });
  for (const { path, contents } of [...outputFiles, ...pages]) {
    // What runs from dist/ never sees half a file.
    await writeFile(`${path}.new`, contents);
    await rename(`${path}.new`, path);
  }
  await writeFile(join(output, 'imports.json'), JSON.stringify(importsOf(metafile), undefined, 2));
  return Object.entries(metafile.outputs)
    .filter(([path]) => path.endsWith('.js'))
    .map(([path, { bytes }]) => `${relative(output, join(root, path))} ${(bytes / 1000).toFixed(0)} kB`);
}

try {
  const { values } = parseArgs({ options: { only: { type: 'string' } } });
  const names = chosenNames(values.only);
  checkEntries(names);
  console.log(`build: ${(await bundle(names)).join(', ')}`);
} catch (error) {
  // esbuild has printed what it found.
  const known =
    error instanceof BuildError ||
    Array.isArray(error?.errors) ||
    error?.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION';
  if (!known) throw error;
  console.error(`build: ${error.message}`);
  process.exitCode = 1;
}
