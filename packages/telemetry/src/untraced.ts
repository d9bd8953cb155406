import { createMetrics } from './metrics';
import { type Telemetry } from './open-telemetry';
import { NO_TRACING } from './tracing';

/** A registry of its own and no traces: for tools and tests, which nobody scrapes. */
export function untraced(): Telemetry {
  return { metrics: createMetrics(), tracing: NO_TRACING };
}
