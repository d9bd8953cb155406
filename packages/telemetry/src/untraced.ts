import { createMetrics } from './metrics';
import { type Telemetry } from './open-telemetry';
import { NO_TRACING } from './tracing';

/** A separate registry and no traces, for tools and tests, which are not scraped. */
export function untraced(): Telemetry {
  return { metrics: createMetrics(), tracing: NO_TRACING };
}
