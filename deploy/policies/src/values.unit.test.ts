import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { CHART } from './rendered';

interface Values {
  [name: string]: unknown;
}

const read = (path: string): Values => parse(readFileSync(join(CHART, path), 'utf8')) as Values;
const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as object;
const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);

const DEFAULTS = read('values.yaml');
const EXAMPLES = readdirSync(join(CHART, 'examples')).map((file) => [
  basename(file, '.yaml'),
  `examples/${file}`,
]);
const SMALL = merged(DEFAULTS, read('examples/small.yaml'));

/** As Helm puts values together: maps are merged, everything else is replaced. */
function merged(base: Values, over: Values): Values {
  const result = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const below = result[name];
    result[name] = isMap(below) && isMap(value) ? merged(below, value) : value;
  }
  return result;
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What stands under a dotted name. */
function valueAt(name: string, values: unknown): unknown {
  return name.split('.').reduce((part, key) => (isMap(part) ? part[key] : undefined), values);
}

/** Where the schema finds fault. */
function faults(values: Values): string[] {
  validate(values);
  return (validate.errors ?? []).map(({ instancePath }) => instancePath);
}

describe('values.schema.json', () => {
  it.each(EXAMPLES)('takes the %s example', (_name, path) => {
    expect(faults(merged(DEFAULTS, read(path ?? '')))).toEqual([]);
  });

  it('demands what cannot be guessed', () => {
    expect(faults(DEFAULTS)).toEqual(
      expect.arrayContaining([
        '/image/prefix',
        '/publicBaseUrl',
        '/secrets/existingSecret',
        '/s3/endpoint',
        '/s3/bucket',
        '/networkPolicy/postgres/to',
        '/networkPolicy/redis/to',
        '/networkPolicy/s3/to',
      ]),
    );
  });

  const withPack = (pack: Values): Values => ({
    engines: [{ name: 'a', serves: ['musetalk'], packs: [pack] }],
  });
  const peers = [{ ipBlock: { cidr: '10.0.0.0/8' } }];
  const full = {
    postgres: { port: 1, to: peers },
    redis: { port: 1, to: peers },
    s3: { port: 1, to: peers },
  };

  it.each<[string, Values, string]>([
    ['a name that is misspelled', { replicaCount: 2 }, ''],
    ['a setting that the service does not know', { api: { env: { MEDIA_SLOTS: '2' } } }, '/api/env'],
    [
      'a secret among the settings',
      { webhookDispatcher: { env: { MASTER_KEY: 'x' } } },
      '/webhookDispatcher/env',
    ],
    ['images of somebody else on Docker Hub', { image: { prefix: 'lipsync' } }, '/image/prefix'],
    [
      'a load balancer that no policy lets in',
      { api: { service: { type: 'LoadBalancer' } } },
      '/networkPolicy/ingress/from',
    ],
    ['a tag that means something else tomorrow', { image: { tag: 'latest' } }, '/image/tag'],
    ['a digest that is none', { api: { image: { digest: 'sha256:1' } } }, '/api/image/digest'],
    ['an address without a scheme', { publicBaseUrl: 'api.example.com' }, '/publicBaseUrl'],
    [
      'no media worker, which also admits and reconciles',
      { mediaWorker: { scale: { min: 0 } } },
      '/mediaWorker/scale/min',
    ],
    ['an unknown engine', { engines: [{ name: 'a', serves: ['wav2lip'] }] }, '/engines/0/serves/0'],
    ['no pool', { engines: [] }, '/engines'],
    ['a pack from two places', withPack({ name: 'p', image: 'i', claim: 'c' }), '/engines/0/packs/0'],
    [
      'a claim after which no volume can be named',
      withPack({ name: 'p', claim: 'a.b' }),
      '/engines/0/packs/0/claim',
    ],
    [
      'resources without a limit',
      { api: { resources: { limits: { memory: null } } } },
      '/api/resources/limits/memory',
    ],
    [
      'traces that no policy lets out',
      { tracing: { endpoint: 'http://c:4318' }, networkPolicy: full },
      '/networkPolicy/tracing/to',
    ],
    [
      'costs that no policy lets be asked',
      { openCost: { url: 'http://c' }, networkPolicy: full },
      '/networkPolicy/openCost/to',
    ],
    [
      'a peer that is everybody',
      { networkPolicy: { s3: { port: 443, to: [{}] } } },
      '/networkPolicy/s3/to/0',
    ],
  ])('refuses %s', (_what, change, where) => {
    expect(faults(SMALL)).toEqual([]);
    expect(faults(merged(SMALL, change))).toContain(where);
  });

  it('takes a load balancer whose callers the policy names by their addresses', () => {
    const ingress = { from: [{ ipBlock: { cidr: '0.0.0.0/0' } }] };
    const change = { api: { service: { type: 'LoadBalancer' } }, networkPolicy: { ingress } };
    expect(faults(merged(SMALL, change))).toEqual([]);
  });
});

describe('the tables of the chart’s README', () => {
  const rows = readFileSync(join(CHART, 'README.md'), 'utf8').matchAll(/^\| (`[^|]+`) \| ([^|]+) \|/gm);
  const told = [...rows].flatMap(([, first = '', second = '']) => {
    const [name = '', ...further] = [...first.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
    const names = [name, ...further.map((text) => (text.startsWith('.') ? siblingOf(name, text) : text))];
    const defaults = second.replaceAll('`', '').split(', ');
    return names.map((each, i) => [each, defaults[i] ?? defaults[0], defaultOf(each)] as const);
  });
  // For the others the table says in words what they come to.
  const plain = told.filter(
    ([, , value]) => ['number', 'boolean', 'string'].includes(typeof value) && value !== '',
  );

  it.each(plain)('tell the default of %s', (_name, text, value) => {
    expect(text).toBe(String(value));
  });

  it('are read, and not passed over', () => {
    expect(plain.length).toBeGreaterThan(30);
  });
});

/** The default of the chart, or of a pool of GPU workers. */
function defaultOf(name: string): unknown {
  return valueAt(name, DEFAULTS) ?? valueAt(name, DEFAULTS['gpuWorker']);
}

/** `.count` behind `gpu.resource` is `gpu.count`. */
function siblingOf(name: string, last: string): string {
  return name.replace(/\.[^.]+$/, last);
}
