import { writeFileSync } from 'node:fs';
import { testFolder } from '@lipsync/testkit';
import { type LoadTestConfig } from './config';
import { defaultConfig } from './options';
import { type LoadTestReport } from './report/report';
import { runLoadTest } from './run-load-test';
import { AT, recordOf } from './test/observations';
import { refusal, type Script, type ScriptedAnswer, startScriptedService } from './test/scripted-service';

const ASSET = {
  id: 'asset',
  media_type: 'video',
  status: 'ready',
  stage: 'ready',
  media: { size_bytes: 1, duration_seconds: 4, codec: 'h264' },
  created_at: AT,
  expires_at: AT,
};
const upload = (base: string) => ({
  id: 'upload',
  asset_id: 'asset',
  status: 'awaiting_upload',
  upload_url: `${base}/bytes`,
  expires_at: AT,
  method: 'PUT',
  required_headers: {},
  complete_url: `${base}/v1/uploads/upload/complete`,
});
const failed = recordOf('render', {
  status: 'failed',
  stage: 'failed',
  completed_at: AT,
  error: { code: 'internal_error', message: 'Any.', retryable: true },
});
const STRANGE: ScriptedAnswer = { status: 200, body: { no: 'render' } };

/** A service with one render. Its polls, the first of which follows the last arrival, are answered as given. */
const service =
  (polls: readonly ScriptedAnswer[], over: Script = {}) =>
  (base: string): Script => ({
    'GET /v1/renders/render_of_nobody': [refusal(404, 'render_not_found', false)],
    'POST /v1/uploads': [{ status: 201, body: upload(base) }],
    'PUT /bytes': [{ status: 200, body: null }],
    'POST /v1/uploads/upload/complete': [{ status: 202, body: ASSET }],
    'GET /v1/assets/asset': [{ status: 200, body: ASSET }],
    'POST /v1/renders': [{ status: 202, body: recordOf('render') }],
    'GET /v1/renders/render': polls,
    ...over,
  });

describe('a load test', () => {
  const at = testFolder();
  beforeAll(() => {
    writeFileSync(at('face.mp4'), 'video');
    writeFileSync(at('speech.wav'), 'audio');
  });

  async function run(
    script: (base: string) => Script,
    over: Partial<LoadTestConfig>,
  ): Promise<LoadTestReport> {
    const { base, close } = await startScriptedService(script);
    const config: LoadTestConfig = {
      ...defaultConfig(),
      scenario: 'renders',
      streams: [
        { name: 'renders', plan: { kind: 'at-once', count: 1 }, mix: { render: 1 }, announces: false },
      ],
      duration: 0.1,
      warmUp: 0,
      drain: 10,
      // Arrivals all happen at once, so every poll belongs to the drain.
      pollInterval: 0.2,
      video: at('face.mp4'),
      audio: at('speech.wav'),
      ...over,
    };
    try {
      return await runLoadTest({
        config,
        target: {
          baseUrl: base,
          description: 'a script',
          customers: [{ apiKey: 'svc_key', signingSecret: null }],
          webhooks: null,
          isLocal: true,
          close: async () => undefined,
        },
        signal: new AbortController().signal,
        say: () => undefined,
      });
    } finally {
      await close();
    }
  }
  const check = ({ checks }: LoadTestReport, id: string) => checks.find((each) => each.id === id);
  const ENDED: ScriptedAnswer = { status: 200, body: failed };

  it('checks responses during the drain against the contract, and excludes them from the figures', async () => {
    const report = await run(service([STRANGE, ENDED]), {});
    expect(check(report, 'renders_end')?.state).toBe('passed');
    expect(check(report, 'answers_in_contract')).toMatchObject({
      state: 'failed',
      failures: 1,
      examples: ['1 × poll_render: 200'],
    });
    expect(report.errors).toEqual([]);
    expect(report.operations.map(({ operation, requests }) => [operation, requests])).toEqual([
      ['create_render', 1],
    ]);
  });

  it('checks responses during the warm-up against the contract', async () => {
    const script = service([ENDED], { 'POST /v1/renders': [STRANGE] });
    const report = await run(script, { warmUp: 0.1 });
    expect(check(report, 'answers_in_contract')).toMatchObject({
      state: 'failed',
      examples: ['1 × create_render: 200'],
    });
    expect(report.operations).toEqual([]);
  });
});
