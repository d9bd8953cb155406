import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Lifecycle, type Logger, z } from '@lipsync/runtime';
import { type ServiceName } from './metric-definition';
import { createMetrics, type Metrics } from './metrics';
import { createOtlpTracing, NO_TRACING, type Tracing } from './tracing';

/** The metrics and traces of a service. */
export interface Telemetry {
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

/** The settings of a process for its traces. */
interface TelemetryEnv {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_TRACES_SAMPLER_ARG: number;
}

/**
 * Opens the metrics of this process and, if a collector is configured, its traces; otherwise the tracing library is not
 * even loaded. Open this before everything else, so that it is closed last and can trace until then.
 */
export async function openTelemetry(options: {
  service: ServiceName;
  env: TelemetryEnv;
  logger: Logger;
  lifecycle: Pick<Lifecycle, 'onShutdown'>;
}): Promise<Telemetry> {
  const { service, env, logger, lifecycle } = options;
  const version = serviceVersion();
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

/** All packages of the repository are released under one version, which scripts/release-notes.mjs ensures. */
export function serviceVersion(): string {
  const text = readFileSync(join(__dirname, '..', 'package.json'), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}

/** A separate registry and no traces, for tools and tests, which are not scraped. */
export function untraced(): Telemetry {
  return { metrics: createMetrics(), tracing: NO_TRACING };
}
