require('./scripts/supported-node.cjs').requireSupportedNode();
// Set before ONNX Runtime starts in a test; it sends telemetry otherwise.
process.env['ORT_DISABLE_TELEMETRY'] = '1';

// Imports of packages are loaded when they are first used: few tests need all that a package brings along.
const swc = [
  '@swc/jest',
  { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'commonjs', lazy: true } },
];

// These are ES modules, which jest can load as they are only in Node 24.9 and newer; the trace exporter imports node:http
// with import() when it first sends.
const TRANSFORMED =
  '(commander|@opentelemetry/otlp-exporter-base|@trustnxt/c2pa-ts|@contentauth/c2pa-wasm|uuid|typed-binary)/';

/** @type {import('jest').Config} */
const sources = {
  transform: { '^.+\\.ts$': swc, [`${TRANSFORMED}.+\\.c?js$`]: swc },
  transformIgnorePatterns: [`/node_modules/(?!(\\.pnpm/[^/]+/node_modules/)?${TRANSFORMED})`],
  // Tests use the packages' sources, so a test run needs no build; only end-to-end tests and the api need a dist: the
  // latter those of packages/downloads and of its own documentation, which it serves.
  moduleNameMapper: {
    '^@lipsync/prisma$': '<rootDir>/prisma/index.ts',
    '^@lipsync/gpu-worker$': '<rootDir>/services/gpu-worker/src/index.ts',
    '^@lipsync/gpu-worker/inference$': '<rootDir>/services/gpu-worker/src/inference/index.ts',
    '^@lipsync/domain/(clock|timeline)$': '<rootDir>/packages/domain/src/$1.ts',
    '^@lipsync/engines/test$': '<rootDir>/packages/engines/src/test/index.ts',
    '^@lipsync/engines/test/(.*)$': '<rootDir>/packages/engines/src/test/$1.ts',
    '^@lipsync/(local-stack|models|fidelity|e2e)$': '<rootDir>/scripts/$1/src/index.ts',
    '^@lipsync/([^/]+)$': '<rootDir>/packages/$1/src/index.ts',
    // Loaded when its command runs, with an import() that has to name the compiled file.
    '^\\./mcp-server\\.js$': '<rootDir>/packages/cli/src/mcp/mcp-server.ts',
    // Its exports are for import alone, which tests are compiled without.
    '^@trustnxt/c2pa-ts/(.*)$':
      '<rootDir>/packages/credentials/node_modules/@trustnxt/c2pa-ts/dist/$1/index.js',
  },
  // Every look-up of a global in a test's context is slow; that of a parameter is not.
  sandboxInjectedGlobals: ['Math', 'Number', 'Float32Array', 'Uint8Array'],
  setupFilesAfterEnv: ['<rootDir>/packages/testkit/src/equal-bytes.cjs'],
  testEnvironment: 'node',
  modulePathIgnorePatterns: ['/dist/', '/.local/', '/.turbo/'],
};

/** One Postgres and one Redis per run. */
const servers = {
  globalSetup: '<rootDir>/packages/testkit/src/global-setup.ts',
  globalTeardown: '<rootDir>/packages/testkit/src/global-teardown.ts',
};

module.exports = {
  // A limit for hangs, not for speed: `npm test` keeps a machine of two cores busy.
  testTimeout: 240_000,
  // Integration tests mostly wait for servers and ffmpeg: one worker per core, none reserved for the parent.
  maxWorkers: '100%',
  projects: [
    { ...sources, displayName: 'unit', testMatch: ['**/*.unit.test.ts'] },
    {
      ...sources,
      displayName: 'graphs',
      testMatch: ['**/*.graph.test.ts'],
      testEnvironment: '<rootDir>/packages/testkit/src/onnx-environment.ts',
    },
    { ...sources, ...servers, displayName: 'integration', testMatch: ['**/*.integration.test.ts'] },
    // Every kind of media, face and pack, where other tests try one of each; and what takes many renders.
    { ...sources, ...servers, displayName: 'long', testMatch: ['**/*.long.test.ts'] },
    {
      ...sources,
      displayName: 'e2e',
      testMatch: ['**/*.e2e.test.ts'],
      globalSetup: '<rootDir>/scripts/e2e/src/shared-stack.ts',
      globalTeardown: '<rootDir>/scripts/e2e/src/global-teardown.ts',
    },
    { ...sources, displayName: 'parts', testMatch: ['**/*.parts.test.ts'] },
  ],
};
