/** Attributes of a span; undefined values are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** The kind of work: serving a request, processing work from a queue, making a request. */
  readonly kind: 'server' | 'consumer' | 'client';
  /** W3C trace context to continue. If it is missing or malformed, a new trace begins. */
  readonly parent?: string | null | undefined;
  readonly attributes?: SpanAttributes;
}

/** A piece of work in a trace. Passed from caller to callee; there is no hidden current span. */
export interface Span {
  /** Undefined without tracing. */
  readonly traceId: string | undefined;
  /** W3C trace context for downstream work. Undefined without tracing. */
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

export const NO_TRACING: Tracing = {
  startSpan: () => NO_SPAN,
  close: () => Promise.resolve(),
};
