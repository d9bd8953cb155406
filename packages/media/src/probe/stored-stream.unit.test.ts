import { VIDEO_64 } from '../test/tools';
import { type ProbedAudio, type ProbedVideo } from './probe';
import { readStoredStream, storedStream } from './stored-stream';

const video: ProbedVideo = {
  ...VIDEO_64,
  color: { range: 'tv', transfer: 'smpte2084' },
  hdr: {
    masteringDisplay: {
      red: [34_000, 16_000],
      green: [13_250, 34_500],
      blue: [7_500, 3_000],
      white: [15_635, 16_450],
      luminance: { min: 1, max: 10_000_000 },
    },
    contentLight: { maxCll: 1000, maxFall: 400 },
  },
  timecode: '01:00:00;00',
  rate: null,
  upright: null,
  frames: 10,
  durationSeconds: 0.4,
};
const audio: ProbedAudio = {
  codec: 'aac',
  profile: 'LC',
  sampleRate: 48_000,
  channels: 2,
  language: 'ger',
  startSeconds: 0,
  durationSeconds: 1,
};
const plainAudio: ProbedAudio = {
  codec: 'mp3',
  sampleRate: 44_100,
  channels: 1,
  startSeconds: 0.1,
  durationSeconds: 1,
};
const kept = (stored: unknown): unknown => readStoredStream(JSON.parse(JSON.stringify(stored)));

describe('a stored stream', () => {
  it.each([
    { video },
    { video: { ...VIDEO_64, frames: 10, durationSeconds: 0.4 } },
    { audio },
    { audio: plainAudio },
  ])('comes back as it was', (probed) => {
    expect(kept(storedStream(probed))).toEqual(probed);
  });

  it.each([
    ['null', null],
    ['of another form', { ...storedStream({ audio }), form: 0 }],
    ['that lacks a fact', storedStream({ audio: { ...audio, sampleRate: undefined } as never })],
    ['with a fact that this version does not know', { ...storedStream({ audio }), captions: true }],
  ])('counts as missing if it is one %s', (_, stored) => {
    expect(kept(stored)).toEqual({});
  });
});
