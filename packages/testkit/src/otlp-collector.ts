import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from './servers/ports';

/** A span as received, without the nesting of the encoding. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** SpanKind of the protocol: 1 internal, 2 server, 3 client, 5 consumer. */
  readonly kind: number;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface OtlpCollector {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  spans(): readonly ReceivedSpan[];
  /** Answers every further request with this status. */
  answerWith(status: number): void;
  close(): Promise<void>;
}

interface KeyValue {
  key: string;
  value: { stringValue?: string; intValue?: number | string; doubleValue?: number; boolValue?: boolean };
}

/** The JSON form of opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest, as far as it is used here. */
interface ExportRequest {
  resourceSpans: {
    resource: { attributes: KeyValue[] };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        kind: number;
        attributes: KeyValue[];
        status?: { code?: number };
      }[];
    }[];
  }[];
}

const STATUS_ERROR = 2;

/**
 * An OTLP receiver over HTTP on loopback, by default on a free port: accepts POST /v1/traces in JSON and stores the
 * spans.
 */
export async function startOtlpCollector(wantedPort = 0): Promise<OtlpCollector> {
  const received: ReceivedSpan[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const accepted = request.method === 'POST' && request.url === '/v1/traces' ? status : 404;
      if (accepted === 200) received.push(...spansOf(JSON.parse(body) as ExportRequest));
      response.writeHead(accepted, { 'content-type': 'application/json' }).end('{}');
    })();
  });
  const port = await listenOnLoopback(server, wantedPort);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans: () => received,
    answerWith: (wanted) => {
      status = wanted;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function spansOf({ resourceSpans }: ExportRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(plain(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service,
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId === '' ? undefined : span.parentSpanId,
        kind: span.kind,
        failed: span.status?.code === STATUS_ERROR,
        attributes: plain(span.attributes),
      })),
    );
  });
}

function plain(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue),
    ]),
  );
}
