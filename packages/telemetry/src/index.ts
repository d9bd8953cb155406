export { type LabelsOf, METRICS } from './catalogue';
export { ATTEMPT_RESULTS, type ServiceName, SERVICES } from './metric-definition';
export { countTurns, createMetrics, type Metrics, type TurnOutcome } from './metrics';
export { openTelemetry, serviceVersion, type Telemetry, untraced } from './open-telemetry';
export { NO_SPAN, NO_TRACING, type Span, type Tracing } from './tracing';
