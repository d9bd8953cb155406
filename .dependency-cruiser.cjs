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
/** A package may import itself and the packages named here; its tests and their fixtures may import any. */
const layer = (name, ...below) => ({
  name: `${name}-imports-downwards`,
  severity: 'error',
  comment: below.length === 0 ? 'imports no other package' : `imports only ${below.join(', ')}`,
  from: { path: `^packages/${name}/src`, pathNot: ['\\.test\\.ts$', '/src/test/'] },
  to: { path: `^packages/(?!(${[name, ...below].join('|')})/)` },
});

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
      name: 'scripts-into-gpu-worker-alone',
      comment: 'Services are started by the scripts; of the GPU worker they also run the inference',
      severity: 'error',
      from: { path: '^scripts/' },
      to: { path: '^services/', pathNot: '^services/gpu-worker/src/(inference/)?index\\.ts$' },
    },
    {
      name: 'scripts-through-an-index',
      comment: 'A workspace of the scripts uses another one only by what it exports',
      severity: 'error',
      from: { path: '^scripts/([^/]+)/' },
      to: { path: '^scripts/', pathNot: '^scripts/($1/|[^/]+/src/index\\.ts$)' },
    },
    {
      name: 'no-testkit-in-production',
      severity: 'error',
      from: { path: '^(packages|services)/', pathNot: ['\\.test\\.ts$', '/test/', '^packages/testkit/'] },
      to: { path: '^packages/testkit/' },
    },
    layer('contract'),
    // Published: whatever it imported would have to be published too.
    layer('client'),
    layer('cli', 'client', 'credentials-reader'),
    layer('domain', 'contract'),
    layer('runtime', 'domain', 'contract'),
    layer('db', 'domain', 'contract'),
    layer('queue', 'runtime', 'domain', 'contract'),
    layer('storage', 'runtime', 'domain', 'contract'),
    layer('telemetry', 'runtime', 'domain', 'contract'),
    layer('worker', 'db', 'queue', 'telemetry', 'runtime', 'domain', 'contract'),
    layer('admin', 'db', 'queue', 'storage', 'runtime', 'domain', 'contract'),
    layer('media', 'runtime', 'domain', 'contract'),
    layer('credentials'),
    layer('credentials-reader'),
    layer('kernels'),
    layer('model-pack'),
    layer('engines', 'kernels', 'model-pack', 'domain', 'contract'),
    layer('builtin-packs', 'engines', 'model-pack', 'contract'),
    only(
      'builtin-packs-are-files',
      'The build writes them once; everybody else reads packs from a folder, whoever wrote them',
      '^packages/builtin-packs/',
      ['^packages/builtin-packs/', '/src/test/'],
    ),
    {
      name: 'engines-know-no-builtin-packs',
      comment:
        'An engine runs any pack of its kind. Its tests have packs of their own: the two would need each other',
      severity: 'error',
      from: { path: '^packages/engines/' },
      to: { path: '^packages/builtin-packs/' },
    },
    layer('studio', 'client', 'client-python', 'credentials-reader', 'domain'),
    layer('site', 'domain', 'contract'),
    {
      name: 'studio-knows-the-timeline-alone',
      comment: 'A browser downloads what the page imports, and the rest of domain is for servers',
      severity: 'error',
      from: { path: '^packages/studio/src', pathNot: '\\.test\\.ts$' },
      to: { path: '^packages/domain/src/', pathNot: '^packages/domain/src/(clock|timeline)\\.ts$' },
    },
    layer('testkit', 'domain', 'contract'),
    only(
      'prisma-only-from-db',
      'Database access lives in packages/db',
      '^prisma/|node_modules/(@prisma|prisma|pg)/',
      ['^packages/db/', '^prisma/', '^scripts/'],
    ),
    only('redis-only-from-queue', 'Redis access lives in packages/queue', 'node_modules/(bullmq|ioredis)/', [
      '^packages/queue/',
    ]),
    only('s3-only-from-storage', 'S3 access lives in packages/storage', 'node_modules/@aws-sdk/', [
      '^packages/storage/',
    ]),
    only(
      'c2pa-only-from-credentials',
      'Outputs are signed by packages/credentials; packages/credentials-reader reads them with a library of other makers',
      'node_modules/(@trustnxt|@peculiar|cbor-x)/',
      ['^packages/credentials/', '^packages/testkit/'],
    ),
    only(
      'telemetry-libraries-only-from-telemetry',
      'Everybody else measures and traces through packages/telemetry',
      'node_modules/(prom-client|@opentelemetry)/',
      ['^packages/telemetry/'],
    ),
    only(
      'onnx-only-in-inference-child',
      'session.run blocks its thread and cannot be interrupted',
      'node_modules/onnxruntime-node/',
      [
        '^services/gpu-worker/src/inference/',
        '^scripts/(bench|models)/',
        '^packages/(builtin-packs|engines)/src/test/',
      ],
    ),
    {
      name: 'inference-only-by-its-protocol',
      comment:
        'The inference child is killed and replaced. What else the worker took from it would run here, bring the ' +
        'runtime of the graphs along sooner or later, and pass the protocol by; what both sides know lies in protocol/',
      severity: 'error',
      from: {
        path: '^services/gpu-worker/src/',
        pathNot: ['^services/gpu-worker/src/(inference|test)/', '\\.test\\.ts$'],
      },
      to: { path: '^services/gpu-worker/src/inference/' },
    },
    {
      name: 'inference-knows-no-supervisor',
      comment: 'The child serves whoever forks it: it gets its settings and its tasks, and asks for nothing',
      severity: 'error',
      from: {
        path: '^services/gpu-worker/src/(inference|protocol)/',
        pathNot: '\\.test\\.ts$',
      },
      to: { path: '^services/gpu-worker/src/', pathNot: '^services/gpu-worker/src/(inference|protocol)/' },
    },
    only(
      'https-only-in-egress',
      'Customer-supplied URLs are fetched by the one egress client; the command posts to what its user names',
      '^(node:)?https$',
      [
        '^packages/runtime/src/egress/',
        '^packages/cli/src/webhook/deliver',
        '^packages/testkit/',
        '^scripts/',
      ],
    ),
    only('express-only-from-api', 'HTTP routing lives in the api service', 'node_modules/express/', [
      '^services/api/',
      // The baseline that the api is measured against.
      '^scripts/bench/src/control-plane/bare-server',
    ]),
    only(
      'child-processes-only-from-media-and-inference-host',
      'Everything else is in process; PostgreSQL dumps and pnpm packs by its own program',
      '^(node:)?child_process$',
      [
        '^packages/media/',
        '^packages/downloads/scripts/',
        '^services/gpu-worker/src/host/',
        '^packages/admin/src/postgres-dump\\.ts',
        '^scripts/',
        '^prisma/scripts/',
        '^packages/client-python/scripts/',
      ],
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Only this repository's dist folders: many dependencies resolve to a dist folder of their own.
    exclude: { path: '^(packages|services|scripts|prisma)/.*\\b(bundle|dist|generated)/' },
    tsPreCompilationDeps: true,
    // Resolves this repository's packages to their sources. Resolved to dist they would be excluded, and no layer would
    // be checked.
    tsConfig: { fileName: 'tsconfig.layers.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
      mainFields: ['types', 'main'],
    },
  },
};
