export { type LabelsOf, type MetricName, METRICS } from './catalogue';
export { SERVICES, type ServiceName } from './metric-definition';
export { ATTEMPT_RESULTS } from './label-values';
export { type Counter, type Gauge, type Histogram } from './instruments';
export { countTurns, type TurnOutcome } from './loop-turns';
export { createMetrics, type Metrics } from './metrics';
export { openTelemetry, type Telemetry, type TelemetryEnv } from './open-telemetry';
export { NO_SPAN, NO_TRACING, type Span, type SpanAttributes, type SpanStart, type Tracing } from './tracing';
export { untraced } from './untraced';
