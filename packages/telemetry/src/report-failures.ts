import { type ExportResult, type ExportResultCode } from '@opentelemetry/core';
import { type SpanExporter } from '@opentelemetry/sdk-trace';

/** Only types are imported here, because the library is loaded only if tracing is on. */
const SUCCESS: ExportResultCode.SUCCESS = 0;

/**
 * Wraps an exporter to report an outage of the collector once when it begins (with the error) and once when it is over
 * (null). The SDK itself would only report to a global listener, if at all.
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
        // Reported here, so the SDK need not know.
        done({ code: SUCCESS });
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
