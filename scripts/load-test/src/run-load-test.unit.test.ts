import { createRecentCreates, type Customer, type MediaFile } from './callers/journeys';
import { createClockOffsetEstimate, createServiceClient } from './callers/service-client';
import { CONFIG_DEFAULTS, type LoadTestConfig, type StreamConfig } from './config';
import { offerLoad, progressLine } from './run-load-test';
import { createVirtualClock, type VirtualClock } from './test/virtual-clock';
import { createLedger } from './track/ledger';
import { createRecorder } from './track/recorder';

it('tells the delay of the harness from that of the webhooks', () => {
  const recorder = createRecorder({
    startAt: 0,
    warmUpMs: 0,
    sliceMs: 1_000,
    slices: 10,
    halfAt: 5_000,
    arrivalsEndAt: () => 10_000,
  });
  recorder.sent('control-plane', 100, 2);
  const event = { createdAt: 1_000, firstAt: 35_500 };
  const line = progressLine({ recorder, openRenders: 3, inFlight: 1, events: [event], clockOffsetMs: -500 });
  expect(line).toContain('harness late by 2 ms (p99)');
  expect(line).toContain('webhooks after 34 s (p99)');
});

const ARRIVALS = 4;
const stream = (name: string): StreamConfig => ({
  name,
  plan: { kind: 'at-once', count: ARRIVALS },
  mix: { get: 1 },
  announces: false,
});
const config: LoadTestConfig = {
  ...CONFIG_DEFAULTS,
  scenario: 'soak',
  streams: ['one', 'two', 'three'].map(stream),
  durationSeconds: 1,
  warmUpSeconds: 0,
  maxInFlight: 5,
  videoFile: 'face.mp4',
  audioFile: 'speech.wav',
};

/** A customer of a service that takes a second and then gives no response. */
function customerOf(clock: VirtualClock): Customer {
  const recent = createRecentCreates();
  recent.add({
    id: 'render',
    create: {
      customer: 0,
      purpose: 'cancel',
      idempotencyKey: 'key',
      request: {
        video: { asset_id: 'video' },
        audio: { asset_id: 'audio' },
        engines: ['musetalk'],
        sync_mode: 'cut_off',
      },
      announcedTo: null,
      intendedAt: 0,
      isWarmUp: false,
    },
  });
  return {
    index: 0,
    client: createServiceClient({
      baseUrl: 'https://api.example.test',
      apiKey: 'svc_key',
      clockOffset: createClockOffsetEstimate(),
      onRequest: () => undefined,
      http: {
        async send() {
          const sentAt = clock.now();
          await clock.until(sentAt + 1_000);
          return { sentAt, answeredAt: clock.now(), answer: null, transportError: 'timeout' };
        },
        close: () => undefined,
      },
    }),
    media: { videoAssetId: 'video', audioAssetId: 'audio' },
    recent,
  };
}

describe('offerLoad', () => {
  it('limits the callers in progress of all streams together', async () => {
    const clock = createVirtualClock();
    const recorder = createRecorder({
      startAt: 0,
      warmUpMs: 0,
      halfAt: 500,
      arrivalsEndAt: () => 1_000,
      sliceMs: 1_000,
      slices: 2,
    });
    const ledger = createLedger(() => undefined);
    const media: MediaFile = {
      bytes: Buffer.alloc(0),
      request: { media_type: 'video', content_type: 'video/mp4', size_bytes: 0 },
    };
    const peak = await clock.run(
      offerLoad({
        clock,
        startAt: 0,
        config,
        recorder,
        signal: new AbortController().signal,
        onProgress: () => undefined,
        context: {
          customers: [customerOf(clock)],
          ledger,
          engines: config.engines,
          syncModes: config.syncModes,
          media: 'once',
          video: media,
          audio: media,
          announce: null,
          isWarmUp: () => false,
          newKey: () => 'key',
          onUploaded: () => undefined,
        },
      }),
    );
    const notSent = [...recorder.streams.values()].reduce((sum, figures) => sum + figures.notSent, 0);
    expect(peak).toBe(5);
    expect(notSent).toBe(config.streams.length * ARRIVALS - 5);
  });
});
