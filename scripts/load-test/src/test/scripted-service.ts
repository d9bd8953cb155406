import { createServer } from 'node:http';
import { listenOnLoopback } from '@lipsync/testkit';
import { createHttpClient } from '../callers/http-client';
import { createRecentCreates, type Customer } from '../callers/journeys';
import { createClockOffsetEstimate, createServiceClient } from '../callers/service-client';
import { type Outcome } from '../track/outcome';

export interface ScriptedAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A service's responses by `METHOD path`, in order; the last one repeats. */
export type Script = Readonly<Record<string, readonly ScriptedAnswer[]>>;

export const refusal = (status: number, code: string, retryable: boolean): ScriptedAnswer => ({
  status,
  body: { error: { code, message: 'Any.', retryable } },
  headers: { 'retry-after': '0' },
});

/** A server that responds as scripted, and a customer of it. */
export async function startScriptedService(script: (base: string) => Script) {
  const requests: string[] = [];
  const outcomes: Outcome[] = [];
  const server = createServer((request, response) => {
    const name = `${request.method} ${request.url}`;
    requests.push(name);
    const answers = answersByName[name] ?? [];
    const asked = requests.filter((other) => other === name).length;
    const answer = answers[Math.min(asked, answers.length) - 1] ?? { status: 404, body: null };
    const isText = typeof answer.body === 'string';
    request.resume().once('end', () => {
      response
        .writeHead(answer.status, {
          'content-type': isText ? 'video/mp4' : 'application/json',
          ...answer.headers,
        })
        .end(isText ? answer.body : JSON.stringify(answer.body));
    });
  });
  const base = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  const answersByName = script(base);
  const http = createHttpClient({ connections: 8, timeoutMs: 10_000 });
  const customer: Customer = {
    index: 0,
    client: createServiceClient({
      baseUrl: base,
      apiKey: 'svc_key',
      http,
      clockOffset: createClockOffsetEstimate(),
      onRequest: ({ outcome }) => outcomes.push(outcome),
    }),
    media: { videoAssetId: 'video', audioAssetId: 'audio' },
    recent: createRecentCreates(),
  };
  return {
    base,
    customer,
    requests,
    /** The outcomes of the customer's requests. */
    outcomes,
    close: async () => {
      http.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type ScriptedService = Awaited<ReturnType<typeof startScriptedService>>;
