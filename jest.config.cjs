// Before ONNX Runtime starts in a test: it reports to its maker otherwise.
process.env['ORT_DISABLE_TELEMETRY'] = '1';

const swc = [
  '@swc/jest',
  { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
];

/** @type {import('jest').Config} */
const sources = {
  // The exporter of traces imports node:http when it first sends, by an import() that jest runs only when compiled.
  transform: { '^.+\\.ts$': swc, '/@opentelemetry/otlp-exporter-base/.+\\.js$': swc },
  transformIgnorePatterns: [
    '/node_modules/(?!(\\.pnpm/[^/]+/node_modules/)?@opentelemetry/otlp-exporter-base/)',
  ],
  // Tests read the packages' sources, so a test run needs no build; only end-to-end tests drive dist.
  moduleNameMapper: {
    '^@lipsync/prisma$': '<rootDir>/prisma/index.ts',
    '^@lipsync/gpu-worker$': '<rootDir>/services/gpu-worker/src/index.ts',
    '^@lipsync/(.*)$': '<rootDir>/packages/$1/src/index.ts',
  },
  testEnvironment: 'node',
  modulePathIgnorePatterns: ['/dist/', '/.local/', '/.turbo/'],
};

module.exports = {
  // Bounds a hang, not a speed: real servers on a busy machine take their time to start.
  testTimeout: 30_000,
  // Integration tests mostly wait for servers and ffmpeg: a worker per core, none kept for the parent.
  maxWorkers: '100%',
  projects: [
    { ...sources, displayName: 'unit', testMatch: ['**/*.unit.test.ts'] },
    {
      ...sources,
      displayName: 'integration',
      testMatch: ['**/*.integration.test.ts'],
      globalSetup: '<rootDir>/packages/testkit/src/global-setup.ts',
      globalTeardown: '<rootDir>/packages/testkit/src/global-teardown.ts',
    },
    { ...sources, displayName: 'e2e', testMatch: ['**/*.e2e.test.ts'] },
  ],
};
