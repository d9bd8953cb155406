import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadEnv, type z } from '@lipsync/runtime';
import { parse } from 'yaml';
import { apiEnvironment } from '../../../services/api/src/env';
import { gpuWorkerEnvironment } from '../../../services/gpu-worker/src/env';
import { childEnvironment } from '../../../services/gpu-worker/src/host/child-environment';
import { mediaWorkerEnvironment } from '../../../services/media-worker/src/env';
import { dispatcherEnvironment } from '../../../services/webhook-dispatcher/src/env';
import { CHART, type Container, EXAMPLES, valueOf, workloads } from './rendered';

const ENVIRONMENTS: Readonly<Record<string, z.ZodObject>> = {
  api: apiEnvironment,
  'media-worker': mediaWorkerEnvironment,
  'gpu-worker': gpuWorkerEnvironment,
  'webhook-dispatcher': dispatcherEnvironment,
};
/** Read by Node.js libraries. */
const EVERYWHERE = ['NODE_ENV', 'OTEL_EXPORTER_OTLP_HEADERS'];
/** Read by libraries of the GPU worker's inference processes alone. */
const BY_INFERENCE = ['NVIDIA_TF32_OVERRIDE'];
/** Settings for development, and of the process; and a pod is asked for its health at whatever address it has. */
const NOT_HERE = ['EGRESS_ROUTES', 'EGRESS_CA_FILE', 'PATH', 'LISTEN_ADDRESS'];
const MASTER_KEY = '0'.repeat(64);
const SECRETS: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://u:p@postgres/lipsync',
  REDIS_URL: 'redis://redis',
  S3_ACCESS_KEY_ID: 'id',
  S3_SECRET_ACCESS_KEY: 'secret',
  S3_UPLOAD_ACCESS_KEY_ID: 'uploads',
  S3_UPLOAD_SECRET_ACCESS_KEY: 'secret',
  MASTER_KEY,
  MASTER_KEY_PREVIOUS: MASTER_KEY,
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20token',
};

describe.each(EXAMPLES)('environment of the %s example', (_name, manifests) => {
  const services = workloads(manifests).flatMap((workload) => {
    const schema = ENVIRONMENTS[workload.component];
    const [container] = workload.pod.containers;
    return schema && container ? [{ name: workload.manifest.metadata.name, schema, container }] : [];
  });
  const api = services.find(({ name }) => name.endsWith('-api'))?.container;

  it.each(services)(
    '$name is given nothing that it does not know, and starts with it',
    ({ schema, container }) => {
      const known = [...Object.keys(schema.shape), ...EVERYWHERE];
      for (const { name } of container.env) expect(known).toContain(name);
      expect(new Set(namesIn(container)).size).toBe(container.env.length);
      expect(() => loadEnv(schema, environmentOf(container))).not.toThrow();
    },
  );

  it.each(services)('$name has secrets from the secret alone', ({ container }) => {
    for (const { name, value, valueFrom } of container.env.filter(({ name }) => name in SECRETS)) {
      expect(value).toBeUndefined();
      expect(valueFrom?.secretKeyRef?.key).toBe(name);
    }
  });

  it('gives the master key to those that seal or open webhook secrets, and to nobody else', () => {
    const holders = workloads(manifests).filter(({ pod }) =>
      pod.containers.some((container) => namesIn(container).includes('MASTER_KEY')),
    );
    for (const { component } of holders) expect(['webhook-dispatcher', 'admin']).toContain(component);
  });

  it('tells the API which engines it may accept while their workers are away', () => {
    const scaledToZero = manifests
      .filter(({ kind, spec }) => kind === 'ScaledObject' && spec['minReplicaCount'] === 0)
      .map(({ metadata }) => metadata.name);
    const served = services
      .filter(({ name }) => scaledToZero.includes(name))
      .flatMap(({ container }) => valueOf(container, 'ENGINES')?.split(',') ?? []);
    expect(valueOf(api, 'ENGINES_ON_DEMAND')?.split(',')).toEqual(expect.arrayContaining(served));
  });

  it('gives every service that traces what the collector asks for, if the secret has it', () => {
    const tracing = services.filter(({ container }) =>
      namesIn(container).includes('OTEL_EXPORTER_OTLP_ENDPOINT'),
    );
    const given = services.filter(({ container }) =>
      container.env.some(
        ({ name, valueFrom }) => name === 'OTEL_EXPORTER_OTLP_HEADERS' && valueFrom?.secretKeyRef?.optional,
      ),
    );
    expect(given).toEqual(tracing);
  });

  it('tells dispatchers and who watches them the same cap for a customer', () => {
    const caps = services.flatMap(({ container }) => valueOf(container, 'WEBHOOK_PER_CUSTOMER') ?? []);
    expect(caps).toHaveLength(2);
    expect(new Set(caps).size).toBe(1);
  });

  it('believes a proxy about callers only where the chart puts one', () => {
    const hops = Number(valueOf(api, 'TRUSTED_PROXY_HOPS'));
    expect(hops > 0).toBe(manifests.some(({ kind }) => kind === 'Ingress'));
  });

  it('has a pool that makes preparations', () => {
    const pools = services.filter(({ name }) => name.includes('-gpu-'));
    expect(pools.map(({ container }) => valueOf(container, 'PREPARATIONS'))).toContain('true');
  });
});

describe('settings that may be added to a service in the values', () => {
  const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as {
    definitions: Record<string, { properties?: object }>;
  };
  /** Set by some value of its own, in one of the examples or where the template has a condition. */
  const setByChart = new Set([
    ...EXAMPLES.flatMap(([, manifests]) => workloads(manifests)).flatMap(({ pod }) =>
      pod.containers.flatMap(namesIn),
    ),
    'S3_PUBLIC_ENDPOINT',
  ]);

  const definitions = {
    apiEnv: 'api',
    mediaWorkerEnv: 'media-worker',
    gpuWorkerEnv: 'gpu-worker',
    webhookDispatcherEnv: 'webhook-dispatcher',
  };
  const settingsOf = (definition: string): string[] =>
    Object.keys(schema.definitions[definition]?.properties ?? {});

  it.each(Object.entries(definitions))(
    '%s are all that the service knows and the chart does not set itself',
    (definition, component) => {
      const further = settingsOf(definition);
      const chartOwn = [...setByChart].filter((name) => !further.includes(name));
      const known = [
        ...Object.keys(ENVIRONMENTS[component]?.shape ?? {}),
        ...(component === 'gpu-worker' ? BY_INFERENCE : []),
      ];
      const expected = known.filter((name) => !chartOwn.includes(name) && !NOT_HERE.includes(name));
      expect(further.sort()).toEqual(expected.sort());
    },
  );

  it.each(BY_INFERENCE)('reach the libraries that read them: %s', (name) => {
    expect(childEnvironment({ [name]: '0' })).toHaveProperty(name, '0');
  });
});

describe('docs/configuration.md', () => {
  const page = readFileSync(join(CHART, '../../../docs/configuration.md'), 'utf8');
  const settings = Object.values(ENVIRONMENTS).flatMap(({ shape }) => Object.keys(shape));

  it.each([...new Set([...settings, ...BY_INFERENCE])].filter((name) => name !== 'PATH'))(
    'describes %s',
    (name) => {
      expect(page).toContain(`\`${name}\``);
    },
  );
});

it('README describes every key of the secret', () => {
  const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as { secrets: { keys: object } };
  const readme = readFileSync(join(CHART, 'README.md'), 'utf8');
  for (const key of Object.keys(values.secrets.keys)) expect(readme).toContain(`\`secrets.keys.${key}\``);
});

function namesIn({ env }: Container): string[] {
  return env.map(({ name }) => name);
}

function environmentOf({ env }: Container): Record<string, string> {
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => [
      name,
      value ?? (valueFrom?.fieldRef ? 'pod-1' : (SECRETS[name] ?? '')),
    ]),
  );
}
