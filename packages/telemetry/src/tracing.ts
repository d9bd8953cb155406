import { randomBytes } from 'node:crypto';
import { type Attributes, type Context, type Span as SdkSpan } from '@opentelemetry/api';
import { type ExportResult, type ExportResultCode } from '@opentelemetry/core';
import { type SpanExporter } from '@opentelemetry/sdk-trace';

/** Attributes of a span; undefined values are left out. */
type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

interface SpanStart {
  /** The kind of work: serving a request, processing work from a queue, making a request. */
  readonly kind: 'server' | 'consumer' | 'client';
  /** W3C trace context to continue. If it is missing or malformed, a new trace begins. */
  readonly parent?: string | null | undefined;
  readonly attributes?: SpanAttributes;
}

/** A piece of work in a trace. Passed from caller to callee; there is no hidden current span. */
export interface Span {
  /** Only `NO_SPAN` has none: log lines of one piece of work share this without a collector, too. */
  readonly traceId: string | undefined;
  /** W3C trace context for downstream work. Undefined where `traceId` is. */
  readonly traceParent: string | undefined;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Runs `work` in a child span that ends with it. A rejection is recorded by the name of its error, and passed on. */
  during<T>(name: string, work: (span: Span) => Promise<T>): Promise<T>;
  /** `failure` marks the work as failed, in a word or two. Never a message, which may quote URLs. */
  end(failure?: string): void;
}

export interface Tracing {
  startSpan(name: string, start: SpanStart): Span;
  /** Sends the remaining spans, and nothing afterwards. */
  close(): Promise<void>;
}

/** The span of untraced work. */
export const NO_SPAN: Span = {
  traceId: undefined,
  traceParent: undefined,
  rename: () => undefined,
  set: () => undefined,
  during: (_name, work) => work(NO_SPAN),
  end: () => undefined,
};

/** W3C Trace Context, version 00: neither of the ids is all zeros. */
const TRACE_PARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Records nothing. A trace that was begun elsewhere is passed on as it came; where there is none, one begins here that
 * is marked as not recorded.
 */
export const NO_TRACING: Tracing = {
  startSpan: (_name, { parent }) => {
    const [traceParent, traceId] = TRACE_PARENT.exec(parent ?? '') ?? beginTrace();
    const span: Span = { ...NO_SPAN, traceId, traceParent, during: (_part, work) => work(span) };
    return span;
  },
  close: () => Promise.resolve(),
};

/** W3C trace context of a new trace, not sampled, and its id. */
function beginTrace(): [traceParent: string, traceId: string] {
  const traceId = randomBytes(16).toString('hex');
  return [`00-${traceId}-${randomBytes(8).toString('hex')}-00`, traceId];
}

interface OtlpOptions {
  /** Base URL of the collector. Traces go to `v1/traces` below it. */
  endpoint: string;
  /** The ratio of traces begun here that are sent. A continued trace is sent if its beginning was. */
  ratio: number;
  /** Attributes of this process, named by OpenTelemetry's semantic conventions. */
  resource: Readonly<Record<string, string>>;
  /** Called once when spans cannot be sent (with the error), and once when they can again (with null). */
  onOutage: (error: Error | null) => void;
}

/** Limits how long a collector that hangs can delay a shutdown. */
const EXPORT_TIMEOUT_MS = 4_000;

/**
 * Traces that are sent to an OpenTelemetry collector in batches, as JSON over HTTP. Nothing is global. This call loads
 * the libraries: they take a tenth of a second and 29 MB, which a process without traces saves.
 */
export async function createOtlpTracing(options: OtlpOptions): Promise<Tracing> {
  const { endpoint, ratio, resource, onOutage } = options;
  const [api, { parseTraceParent }, { OTLPTraceExporter }, { resourceFromAttributes }, sdk] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/core'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace'),
    ]);
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api;
  const kinds = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER, client: SpanKind.CLIENT };

  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes(resource),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: reportFailures(exporter, onOutage),
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('lipsync');

  function contextOf(traceParent: string | null | undefined): Context {
    const parsed = typeof traceParent === 'string' ? parseTraceParent(traceParent) : null;
    return parsed === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parsed, isRemote: true });
  }

  function wrap(span: SdkSpan): Span {
    const { traceId, spanId, traceFlags } = span.spanContext();
    return {
      traceId,
      traceParent: `00-${traceId}-${spanId}-0${traceFlags & api.TraceFlags.SAMPLED}`,
      rename: (name) => void span.updateName(name),
      set: (attributes) => void span.setAttributes(defined(attributes)),
      during: async (name, work) => {
        const part = wrap(tracer.startSpan(name, {}, trace.setSpan(ROOT_CONTEXT, span)));
        try {
          const result = await work(part);
          part.end();
          return result;
        } catch (error) {
          part.end(error instanceof Error ? error.name : 'Error');
          throw error;
        }
      },
      end: (failure) => {
        if (failure !== undefined) {
          span.setAttribute('error.type', failure);
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  }

  return {
    startSpan: (name, { kind, parent, attributes = {} }) =>
      wrap(tracer.startSpan(name, { kind: kinds[kind], attributes: defined(attributes) }, contextOf(parent))),
    close: () => provider.shutdown(),
  };
}

function defined(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** Only types are imported here, because the library is loaded only if tracing is on. */
const SUCCESS: ExportResultCode.SUCCESS = 0;

/**
 * Wraps an exporter to report an outage of the collector once when it begins (with the error) and once when it is over
 * (null). The SDK itself would only report to a global listener, if at all.
 */
function reportFailures(exporter: SpanExporter, onOutage: (error: Error | null) => void): SpanExporter {
  let failing = false;

  function note({ code, error }: ExportResult): void {
    const failed = code !== SUCCESS;
    if (failed !== failing) onOutage(failed ? (error ?? new Error('the collector accepted no spans')) : null);
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
