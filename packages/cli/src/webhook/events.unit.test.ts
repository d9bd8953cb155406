import type { RenderRecord } from '@lipsync/client';
import { conforms } from '@lipsync/contract';
import { preparationRecord, renderRecord, webhookEventBody } from '@lipsync/domain';
import { EVENT_TYPES, eventOf, exampleEvent } from './events';

const at = new Date('2026-01-01T00:00:00.000Z');
const baseUrl = 'https://api.example.com';
const row = {
  id: 'ren_01k3v9m5e8q4x7r2t6w0y1z3ab',
  customerId: 'cus_1',
  stage: 'completed',
  progressPercent: 100,
  videoAssetId: 'ast_v',
  webhookUrl: null,
  errorCode: null,
  createdAt: at,
  updatedAt: at,
  completedAt: at,
  expiresAt: at,
  purgedAt: null,
};
const renderRow = {
  ...row,
  status: 'completed',
  audioAssetId: 'ast_a',
  syncMode: 'loop',
  preparationId: 'prp_1',
};
const found = {
  version: '1',
  analyzerVersion: 'a',
  frames: 100,
  fps: 25,
  width: 640,
  height: 360,
  durationSeconds: 4,
};
const preparationRow = { ...row, ...found, id: 'prp_1', errorDetail: null, videoSha256: 'ab' };
const runRow = {
  id: 'run_1',
  engine: 'musetalk',
  position: 0,
  status: 'completed',
  stage: 'completed',
  progressPercent: 100,
  errorCode: null,
  errorDetail: null,
  failedInput: null,
  outputKey: null,
  usage: { output_seconds: 4 },
};
const failedRun = {
  ...runRow,
  id: 'run_2',
  engine: 'highsync',
  position: 1,
  status: 'failed',
  errorCode: 'engine_failed',
};
const outputs = new Map([['run_1', { url: 'https://s3.example.com/x', expiresAt: at }]]);

/** As the client gets it. */
const received = (record: object) => JSON.parse(JSON.stringify(record)) as RenderRecord;

describe('the event of a render', () => {
  const summary = { ...preparationRow, status: 'completed' };
  const view = (webhookEventId: string | null) =>
    renderRecord(renderRow, [runRow, failedRun], summary, { baseUrl, outputs, webhookEventId });

  it.each([
    ['that was created with a webhook', 'evt_1', 'evt_1'],
    ['that has no webhook, with an id that stays', null, 'evt_01k3v9m5e8q4x7r2t6w0y1z3ab'],
  ])('%s is byte by byte what the service sends', (_, webhookEventId, id) => {
    const event = JSON.stringify(eventOf(received(view(webhookEventId))));
    expect(event).toBe(webhookEventBody({ id, type: 'render.completed', createdAt: at }, view(id)));
  });
});

it('of a preparation is byte by byte what the service sends', () => {
  const failed = { ...preparationRow, status: 'failed', errorCode: 'no_face_detected' };
  const view = (webhookEventId: string | null) => preparationRecord(failed, { baseUrl, webhookEventId });
  const expected = webhookEventBody(
    { id: 'evt_1', type: 'preparation.failed', createdAt: at },
    view('evt_1'),
  );
  expect(JSON.stringify(eventOf(received(view(null))))).toBe(expected);
});

it.each(EVENT_TYPES)('an example of %s is an event by the contract', (type) => {
  const event: unknown = JSON.parse(JSON.stringify(exampleEvent(type)));
  expect(conforms('WebhookEvent', event)).toBe(true);
  expect(event).toMatchObject({ type, data: { status: type.split('.')[1] } });
});
