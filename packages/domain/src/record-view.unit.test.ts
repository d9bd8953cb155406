import { ERROR_CATALOGUE, type SchemaName, validate } from '@lipsync/contract';
import { preparationRecord, renderRecord } from './record-view';
import { type EngineRunRow, type PreparationRow, type RenderRow } from './rows';

const at = new Date('2026-01-01T00:00:00.000Z');
const later = new Date('2026-01-08T00:00:00.000Z');
const iso = at.toISOString();
const baseUrl = 'https://api.example.com';

const times = { createdAt: at, updatedAt: at, expiresAt: later, completedAt: null, purgedAt: null };
const renderRow: RenderRow = {
  ...times,
  id: 'ren_1',
  customerId: 'cus_1',
  status: 'accepted',
  stage: 'queued',
  progressPercent: 0,
  videoAssetId: 'ast_v',
  audioAssetId: 'ast_a',
  syncMode: 'loop',
  preparationId: null,
  webhookUrl: null,
  errorCode: null,
};
const runRow: EngineRunRow = {
  id: 'run_1',
  renderId: 'ren_1',
  customerId: 'cus_1',
  engine: 'musetalk',
  position: 0,
  status: 'accepted',
  stage: 'queued',
  progressPercent: 0,
  outputKey: null,
  errorCode: null,
  errorDetail: null,
  failedInput: null,
  usage: {},
  createdAt: at,
  updatedAt: at,
};
const preparationRow: PreparationRow = {
  ...times,
  id: 'prp_1',
  customerId: 'cus_1',
  status: 'accepted',
  stage: 'queued',
  progressPercent: 0,
  videoAssetId: 'ast_v',
  webhookUrl: null,
  errorCode: null,
  errorDetail: null,
  version: null,
  analyzerVersion: null,
  frames: null,
  fps: null,
  width: null,
  height: null,
  durationSeconds: null,
  videoSha256: null,
};
const analyzed: PreparationRow = {
  ...preparationRow,
  status: 'completed',
  stage: 'completed',
  progressPercent: 100,
  completedAt: at,
  version: '1',
  analyzerVersion: 'a',
  frames: 100,
  fps: 25,
  width: 640,
  height: 360,
  durationSeconds: 4,
};
const outputs = new Map([['run_1', { url: 'https://s3.example.com/x?signature=1', expiresAt: at }]]);
const doneRun: EngineRunRow = {
  ...runRow,
  status: 'completed',
  stage: 'completed',
  progressPercent: 100,
  outputKey: 'outputs/run_1/1/video.mp4',
  usage: { output_seconds: 4, rendered_frames: 100, processing_ms: 900 },
};

function expectValid(schema: SchemaName, value: unknown): void {
  expect(validate(schema, JSON.parse(JSON.stringify(value)))).toEqual({ ok: true });
}

describe('a render', () => {
  it('has every required field from its acceptance on, with the four nulls of an unmeasured usage', () => {
    const record = renderRecord(renderRow, [runRow], null, { baseUrl });
    expectValid('Record', record);
    expect(record).toEqual({
      id: 'ren_1',
      status: 'accepted',
      stage: 'queued',
      progress_percent: 0,
      video_asset_id: 'ast_v',
      audio_asset_id: 'ast_a',
      sync_mode: 'loop',
      engines: [
        {
          engine: 'musetalk',
          status: 'accepted',
          stage: 'queued',
          progress_percent: 0,
          usage: {
            engine: 'musetalk',
            status: 'accepted',
            gpu_inference_seconds: null,
            billed_pod_seconds: null,
            observed_pod_seconds: null,
            estimated_compute_usd: null,
            gpu_models: [],
            estimate_coverage: 'unavailable',
          },
        },
      ],
      created_at: iso,
      updated_at: iso,
      expires_at: later.toISOString(),
      status_url: 'https://api.example.com/v1/renders/ren_1',
    });
  });

  it('shows its engines in the order of the request', () => {
    const runs = [
      { ...runRow, id: 'run_2', engine: 'highsync', position: 1 },
      { ...runRow, position: 0 },
    ];
    const { engines } = renderRecord(renderRow, runs, null, { baseUrl });
    expect(engines?.map(({ engine }) => engine)).toEqual(['musetalk', 'highsync']);
  });

  it('shows outputs, measurements and its event once completed, even if another engine failed', () => {
    const done = {
      ...renderRow,
      status: 'completed',
      stage: 'completed',
      progressPercent: 100,
      completedAt: at,
    };
    const failed = {
      ...runRow,
      id: 'run_2',
      engine: 'highsync',
      position: 1,
      status: 'failed',
      stage: 'failed',
      errorCode: 'engine_timeout',
    };
    const record = renderRecord(done, [doneRun, failed], null, { baseUrl, outputs, webhookEventId: 'evt_1' });
    expectValid('Record', record);
    expect(record).toMatchObject({ completed_at: iso, webhook_event_id: 'evt_1' });
    expect(record).not.toHaveProperty('error');
    expect(record.engines?.[0]).toMatchObject({
      output: { url: 'https://s3.example.com/x?signature=1', expires_at: iso },
      usage: { status: 'completed', rendered_frames: 100, gpu_inference_seconds: null },
    });
    expect(record.engines?.[1]?.error).toMatchObject({ code: 'engine_timeout', retryable: true });
    expect(record.engines?.[1]).not.toHaveProperty('output');
  });

  it('shows an error only if it failed, never if it was cancelled', () => {
    const failed = renderRecord(
      { ...renderRow, status: 'failed', stage: 'failed', errorCode: 'no_face_detected' },
      [],
      null,
      { baseUrl },
    );
    expect(failed.error?.code).toBe('no_face_detected');
    const cancelled = renderRecord(
      { ...renderRow, status: 'cancelled', errorCode: 'engine_failed' },
      [{ ...runRow, status: 'cancelled', errorCode: 'engine_failed' }],
      null,
      { baseUrl },
    );
    expect(cancelled).not.toHaveProperty('error');
    expect(cancelled.engines?.[0]).not.toHaveProperty('error');
  });

  it('names the input that it failed for, on the render and on its engines', () => {
    const row = { ...renderRow, status: 'failed', stage: 'failed', errorCode: 'media_corrupt' };
    const run = { ...runRow, status: 'failed', stage: 'failed', errorCode: 'media_corrupt' };
    const failedFor = (failedInput: string | null) => {
      const record = renderRecord(row, [{ ...run, failedInput }], null, { baseUrl });
      expectValid('Record', record);
      expect(record.engines?.[0]?.error).toEqual(record.error);
      return record.error?.message;
    };
    const { message } = ERROR_CATALOGUE.media_corrupt;
    expect(failedFor('video')).toBe(`/video: ${message}`);
    expect(failedFor('audio')).toBe(`/audio: ${message}`);
    expect(failedFor(null)).toBe(message);
  });

  it('shows the measurements of the preparation that it refers to', () => {
    const record = renderRecord({ ...renderRow, preparationId: 'prp_1' }, [runRow], analyzed, { baseUrl });
    expectValid('Record', record);
    expect(record).toMatchObject({ preparation_id: 'prp_1', preparation: { frames: 100, fps: 25 } });
  });

  it('tolerates a stored code and stored measurements that this version does not know', () => {
    const row = { ...renderRow, status: 'failed', errorCode: 'code_of_the_future' };
    const record = renderRecord(row, [{ ...runRow, usage: { future: 1 } }], null, { baseUrl });
    expectValid('Record', record);
    expect(record.error?.code).toBe('internal_error');
  });
});

describe('a preparation', () => {
  it('is a record without engines and audio, and has its measurements once completed', () => {
    const accepted = preparationRecord(preparationRow, { baseUrl });
    expectValid('Record', accepted);
    for (const absent of ['engines', 'audio_asset_id', 'sync_mode', 'preparation', 'preparation_id']) {
      expect(accepted).not.toHaveProperty(absent);
    }
    expect(accepted.status_url).toBe('https://api.example.com/v1/preparations/prp_1');
    const completed = preparationRecord(analyzed, { baseUrl });
    expectValid('Record', completed);
    expect(completed.preparation).toEqual({
      version: '1',
      analyzer_version: 'a',
      frames: 100,
      fps: 25,
      width: 640,
      height: 360,
      duration_seconds: 4,
    });
  });
});
