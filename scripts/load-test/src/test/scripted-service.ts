import { createServer } from 'node:http';
import { listenOnLoopback } from '@lipsync/testkit';
import { createHttpClient } from '../callers/http-client';
import { type JourneyContext } from '../callers/journeys';
import { createClockOffsetEstimate, createServiceClient } from '../callers/service-client';
import { defaultConfig } from '../options';
import { createEventLog } from '../target/receiver';
import { createLedger } from '../track/ledger';
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

/** A server that responds as scripted, and a run against it with one customer. */
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
  const ledger = createLedger(() => undefined);
  const client = createServiceClient({
    baseUrl: base,
    apiKey: 'svc_key',
    http,
    clockOffset: createClockOffsetEstimate(),
    onRequest: ({ outcome }) => outcomes.push(outcome),
    onRender: ledger.observed,
  });
  const media = {
    bytes: Buffer.alloc(0),
    request: { media_type: 'video', content_type: 'video/mp4', size_bytes: 0 },
  } as const;
  const run: JourneyContext = {
    config: defaultConfig(),
    customers: [{ index: 0, client, media: { videoAssetId: 'video', audioAssetId: 'audio' }, recent: [] }],
    ledger,
    video: media,
    audio: media,
    webhooks: { log: createEventLog(), url: () => '', verifiesSignatures: true },
    measuredFrom: 0,
    newKey: () => 'key',
    uploads: [],
  };
  return {
    base,
    run,
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
