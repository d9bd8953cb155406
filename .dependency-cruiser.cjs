// The layering of ARCHITECTURE.md, enforced. Every rule is an error.
const only = (name, comment, target, allowed) => ({
  name,
  comment,
  severity: 'error',
  from: {
    path: '^(packages|services|scripts|prisma)/',
    pathNot: [...allowed, '\\.test\\.ts$', '^packages/testkit/'],
  },
  to: { path: target },
});
const layer = (name, from, forbidden) => ({
  name,
  severity: 'error',
  comment: `${name} may only import downwards`,
  from: { path: `^packages/${name}/src`, pathNot: '\\.test\\.ts$' },
  to: { path: forbidden },
});
const packages = (...names) => `^packages/(${names.join('|')})/`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'packages-not-into-services',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^(services|scripts)/' },
    },
    {
      name: 'services-not-into-services',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'no-testkit-in-production',
      severity: 'error',
      from: { path: '^(packages|services)/', pathNot: ['\\.test\\.ts$', '/test/', '^packages/testkit/'] },
      to: { path: '^packages/testkit/' },
    },
    layer('contract', '', '^packages/(?!contract/)'),
    layer('domain', '', '^packages/(?!domain/|contract/)'),
    layer('runtime', '', '^packages/(?!runtime/|domain/|contract/)'),
    layer('lipsync', '', '^packages/(?!lipsync/)'),
    layer('db', '', packages('queue', 'storage', 'worker', 'media', 'lipsync', 'model-pack')),
    layer('queue', '', packages('db', 'storage', 'worker', 'media', 'lipsync', 'model-pack')),
    layer('storage', '', packages('db', 'queue', 'worker', 'media', 'lipsync', 'model-pack')),
    layer('media', '', packages('db', 'queue', 'storage', 'worker', 'lipsync', 'model-pack')),
    layer('model-pack', '', '^packages/(?!model-pack/|lipsync/)'),
    layer('worker', '', '^packages/(?!worker/|db/|queue/|storage/|runtime/|domain/|contract/)'),
    only(
      'prisma-only-from-db',
      'Database access lives in packages/db',
      '^prisma/|node_modules/(@prisma|prisma|pg)/',
      ['^packages/db/', '^prisma/', '^scripts/'],
    ),
    only(
      'redis-only-from-queue',
      'Redis access lives in packages/queue',
      'node_modules/(bullmq|ioredis|rate-limiter-flexible)/',
      ['^packages/queue/', '^scripts/'],
    ),
    only('s3-only-from-storage', 'S3 access lives in packages/storage', 'node_modules/@aws-sdk/', [
      '^packages/storage/',
    ]),
    only(
      'onnx-only-in-inference-child',
      'session.run blocks its thread and cannot be interrupted',
      'node_modules/onnxruntime-node/',
      ['^services/gpu-worker/src/inference/'],
    ),
    only(
      'undici-only-in-egress',
      'Customer-supplied URLs are fetched by the one egress client',
      'node_modules/undici/',
      ['^packages/runtime/src/egress/'],
    ),
    only('express-only-from-api', 'HTTP routing lives in the api service', 'node_modules/express/', [
      '^services/api/',
    ]),
    only(
      'child-processes-only-from-media-and-inference-host',
      'Everything else is in process',
      '^(node:)?child_process$',
      ['^packages/media/', '^services/gpu-worker/src/', '^scripts/', '^prisma/scripts/'],
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(/dist/|/generated/)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
      mainFields: ['types', 'main'],
    },
  },
};
