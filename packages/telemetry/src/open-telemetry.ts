import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Lifecycle, type Logger, z } from '@lipsync/runtime';
import { type ServiceName } from './metric-definition';
import { createMetrics, type Metrics } from './metrics';
import { createOtlpTracing } from './otlp-tracing';
import { NO_TRACING, type Tracing } from './tracing';

/** What a service measures and traces with. */
export interface Telemetry {
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

/** The settings of a process that say where its traces go. */
export interface TelemetryEnv {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_TRACES_SAMPLER_ARG: number;
}

/**
 * The metrics of this process and, where a collector is named, its traces; without one nothing of the tracing library
 * is even loaded. To be opened before everything else: what is closed last can still be traced.
 */
export async function openTelemetry(options: {
  service: ServiceName;
  env: TelemetryEnv;
  logger: Logger;
  lifecycle: Pick<Lifecycle, 'onShutdown'>;
}): Promise<Telemetry> {
  const { service, env, logger, lifecycle } = options;
  const version = readVersion();
  const metrics = createMetrics();
  metrics.addProcessMetrics();
  metrics.gauge('build_info').set({ component: service, version }, 1);
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return { metrics, tracing: NO_TRACING };

  const tracing = await createOtlpTracing({
    endpoint,
    ratio: env.OTEL_TRACES_SAMPLER_ARG,
    resource: {
      'service.namespace': 'lipsync',
      'service.name': service,
      'service.version': version,
      'service.instance.id': `${hostname()}-${process.pid}`,
    },
    onOutage: (error) => {
      if (error) logger.warn('traces cannot be sent', { error });
      else logger.info('traces are sent again');
    },
  });
  lifecycle.onShutdown('tracing', () => tracing.close());
  return { metrics, tracing };
}

/** All packages of the repository are released under one version: scripts/release-notes.mjs sees to that. */
function readVersion(): string {
  const text = readFileSync(join(__dirname, '..', 'package.json'), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
