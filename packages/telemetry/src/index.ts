export { type LabelsOf, type MetricName, METRICS } from './catalogue';
export { SERVICES, type ServiceName, ATTEMPT_RESULTS } from './metric-definition';
export {
  type Counter,
  type Gauge,
  type Histogram,
  countTurns,
  type TurnOutcome,
  createMetrics,
  type Metrics,
} from './metrics';
export { openTelemetry, type Telemetry, type TelemetryEnv, untraced } from './open-telemetry';
export { NO_SPAN, NO_TRACING, type Span, type SpanAttributes, type SpanStart, type Tracing } from './tracing';
