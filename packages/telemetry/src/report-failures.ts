import { type ExportResult, type ExportResultCode } from '@opentelemetry/core';
import { type SpanExporter } from '@opentelemetry/sdk-trace';

/** The library is loaded only by who traces: of it, nothing but types is named here. */
const SUCCESS: ExportResultCode.SUCCESS = 0;

/**
 * The same exporter; an outage of the collector is told once when it begins (with the error) and once when it is over
 * (null). The SDK itself would tell a global listener or nobody.
 */
export function reportFailures(
  exporter: SpanExporter,
  onOutage: (error: Error | null) => void,
): SpanExporter {
  let failing = false;

  function note({ code, error }: ExportResult): void {
    const failed = code !== SUCCESS;
    if (failed !== failing) onOutage(failed ? (error ?? new Error('the collector took no spans')) : null);
    failing = failed;
  }

  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        note(result);
        // Told here, and nobody else needs to hear of it.
        done({ code: SUCCESS });
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
