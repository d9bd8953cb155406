import {
  HOP,
  logMel,
  MEL_BANDS,
  melSlice,
  type Recording,
  recordingOf,
  SAMPLE_RATE,
  SEGMENT_FRAMES,
  segmentLogMel,
} from './log-mel';

/** Two tones. The reference values below were computed from them with the original Whisper front ends. */
const tones = Float32Array.from(
  { length: SAMPLE_RATE },
  (_, n) =>
    0.5 * Math.sin((2 * Math.PI * 440 * n) / SAMPLE_RATE) +
    0.25 * Math.sin((2 * Math.PI * 1500 * n) / SAMPLE_RATE),
);

const highest = (values: Float32Array): number => values.reduce((a, b) => Math.max(a, b), -Infinity);
const lowest = (values: Float32Array): number => values.reduce((a, b) => Math.min(a, b), Infinity);
const mean = (values: Float32Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('segmentLogMel', () => {
  test('matches the reference extractor: waveform padded with zero samples to 30 s', () => {
    const mel = segmentLogMel(recordingOf(tones), 0);
    expect(mel).toHaveLength(80 * 3000);
    const expected: [number, number, number][] = [
      [0, 0, 1.011827],
      [11, 0, 1.108079],
      [11, 50, 1.438202],
      [12, 50, 1.293527],
      [13, 50, -0.561795],
      [32, 50, -0.08805],
      [33, 50, 0.112456],
      [79, 50, -0.561795],
      [11, 99, 1.436937],
      [11, 100, 1.292758],
      [40, 500, -0.561795],
    ];
    for (const [band, frame, value] of expected) expect(mel[band * 3000 + frame]).toBeCloseTo(value, 5);
    expect(highest(mel)).toBeCloseTo(1.4382049, 5);
    expect(lowest(mel)).toBeCloseTo(-0.5617951, 5);
    expect(mean(mel)).toBeCloseTo(-0.5528261, 5);
  });

  test('each 30 s segment has its own maximum, so a loud start does not floor a quiet rest', () => {
    const audio = new Float32Array(SEGMENT_FRAMES * HOP + SAMPLE_RATE);
    audio.set(tones, 0);
    audio.set(
      tones.map((sample) => sample * 1e-3),
      SEGMENT_FRAMES * HOP,
    );
    const first = segmentLogMel(recordingOf(audio), 0);
    const second = segmentLogMel(recordingOf(audio), 1);
    const range = (mel: Float32Array) => highest(mel) - lowest(mel);
    expect(range(first)).toBeCloseTo(2, 5);
    expect(lowest(second)).toBeLessThan(lowest(first) - 0.5);
  });
});

describe('melSlice', () => {
  test('matches the original: reflection at the true end, slices padded with 0.0', () => {
    const slice = melSlice(logMel(recordingOf(tones)), 0);
    expect(slice[11 * 3000 + 50]).toBeCloseTo(1.438202, 5);
    expect(slice[11 * 3000 + 99]).toBeCloseTo(1.435689, 5);
    expect(slice[11 * 3000 + 100]).toBe(0);
    expect(mean(logMel(recordingOf(tones)))).toBeCloseTo(-0.3072347, 5);
  });

  test('slices of a recording longer than 30 s share one maximum', () => {
    const audio = new Float32Array(SEGMENT_FRAMES * HOP + 2 * SAMPLE_RATE);
    audio.set(tones, 0);
    const mel = logMel(recordingOf(audio));
    const last = melSlice(mel, SEGMENT_FRAMES);
    expect(last[0]).toBeCloseTo(-0.5617951, 5);
    expect(last[200]).toBe(0);
  });
});

describe('a recording of more than half a minute', () => {
  const long = Float32Array.from({ length: 61 * SAMPLE_RATE }, (_, i) => Math.sin(i * i) / 2);
  const whole = logMel(recordingOf(long));
  const columns = (mel: Float32Array, from: number, to: number) =>
    Array.from({ length: MEL_BANDS }, (_, band) => {
      const row = (band * mel.length) / MEL_BANDS;
      return mel.subarray(row + from, row + to);
    });

  test.each([3000, 6000])(
    'has the same frames around frame %i as one that begins shortly before',
    (border) => {
      // Without the ends, which are mirrored.
      const cut = logMel(recordingOf(long.subarray((border - 500) * HOP, (border + 100) * HOP)));
      expect(columns(whole, border - 100, border + 90)).toEqual(columns(cut, 400, 590));
    },
  );

  test('is never in memory as a whole', () => {
    const kept = recordingOf(long);
    const lengths: number[] = [];
    const watched: Recording = {
      length: kept.length,
      read(from, to) {
        lengths.push(to - from);
        return kept.read(from, to);
      },
    };
    expect(logMel(watched)).toEqual(whole);
    segmentLogMel(watched, 1);
    expect(lengths).toHaveLength(4);
    expect(Math.max(...lengths)).toBeLessThan(31 * SAMPLE_RATE);
  });
});

test('a recording shorter than one frame has no spectrogram and does not fail', () => {
  expect(logMel(recordingOf(new Float32Array(100)))).toHaveLength(0);
});

test('a recording shorter than the analysis window is mirrored as often as needed', () => {
  expect(logMel(recordingOf(new Float32Array(170).fill(0.1))).every(Number.isFinite)).toBe(true);
});
