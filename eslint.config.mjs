import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/**
 * What each folder may import (ARCHITECTURE.md, "Folders"). A folder that is not in its list is out of bounds.
 * Tests beside the source may reach into test/ for fakes.
 */
const mayImport = {
  openapi: [],
  storage: ['openapi'],
  apiserver: ['openapi', 'storage'],
  // Certificates are no business of an API server alone.
  'apiserver/pki': [],
  'controllers/runtime': ['openapi'],
  controllers: ['openapi', 'controllers/runtime', 'apiserver/pki'],
  'node-agent': ['openapi', 'controllers/runtime'],
  launcher: ['openapi'],
  cli: ['openapi', 'controllers/runtime'],
};
const folders = [
  'openapi',
  'storage',
  'apiserver',
  'controllers',
  'node-agent',
  'launcher',
  'cli',
  'deploy',
  'test',
];

const forbiddenImports = (folder) => {
  const own = folder.split('/')[0];
  const allowed = new Set([own, ...mayImport[folder].map((name) => name.split('/')[0])]);
  const patterns = folders
    .filter((name) => !allowed.has(name))
    .map((name) => ({
      regex: `^(\\.\\./)+${name}/`,
      message: `${folder}/ may not import ${name}/ (see ARCHITECTURE.md)`,
    }));
  for (const part of mayImport[folder]) {
    const [name, inner] = part.split('/');
    if (inner === undefined || name === own) continue;
    patterns.push({
      regex: `^(\\.\\./)+${name}/(?!${inner}/)`,
      message: `${folder}/ may import only ${part}/ of ${name}/ (see ARCHITECTURE.md)`,
    });
  }
  if (folder === 'launcher') {
    patterns.push({
      regex: '^(@kubernetes/client-node|@grpc/|fastify|pino|level|ajv|prom-client|ws|yaml)',
      message: 'the launcher stays small: node built-ins only',
    });
  }
  return patterns;
};

export default tseslint.config(
  { ignores: ['dist/', 'build/', 'node_modules/', 'openapi/generated/', 'test/conformance/run.mjs'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  ...Object.keys(mayImport).map((folder) => ({
    files: [`${folder}/**/*.ts`],
    ignores: ['**/*.test.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: forbiddenImports(folder) }] },
  })),
  {
    files: ['**/*.test.ts', 'test/**/*.ts', 'storage/testing/**/*.ts'],
    rules: {
      // node:test returns promises that the runner itself awaits.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            {
              from: 'package',
              package: 'node:test',
              name: ['test', 'it', 'describe', 'suite', 'before', 'after', 'beforeEach', 'afterEach'],
            },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        Buffer: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
      },
    },
  },
);
