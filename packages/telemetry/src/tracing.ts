/** What a span says about its work; what is undefined is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** Whose work it is: an answer to a request, work taken from a queue, a request to somebody else. */
  readonly kind: 'server' | 'consumer' | 'client';
  /** W3C trace context that it continues; without one, or with one that is malformed, a trace begins. */
  readonly parent?: string | null | undefined;
  readonly attributes?: SpanAttributes;
}

/** A piece of work in a trace. Handed from caller to callee; there is no hidden current span. */
export interface Span {
  /** Undefined while there is no tracing. */
  readonly traceId: string | undefined;
  /** W3C trace context that continues here, for whoever works on. Undefined while there is no tracing. */
  readonly traceParent: string | undefined;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Does `work` as a part of this span that ends with it; a rejection is noted by the name of its error, and passed on. */
  during<T>(name: string, work: (span: Span) => Promise<T>): Promise<T>;
  /** `failure` marks the work as failed, in a word or two. Never a message, which may quote addresses. */
  end(failure?: string): void;
}

export interface Tracing {
  startSpan(name: string, start: SpanStart): Span;
  /** Sends what has not been sent, and nothing any more afterwards. */
  close(): Promise<void>;
}

/** The span of work that nobody traces. */
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
