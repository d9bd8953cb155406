import { createComplexFft } from './fft';

export const SAMPLE_RATE = 16_000;
/** Samples between frames: 10 ms. */
export const HOP = 160;
/** Whisper sees 30 s at a time. */
export const SEGMENT_SAMPLES = 30 * SAMPLE_RATE;
export const SEGMENT_FRAMES = SEGMENT_SAMPLES / HOP;

/** The least energy that is told from none. */
const FLOOR = 1e-10;
const SILENT = Math.log10(FLOOR);

/**
 * Whisper's log-mel spectrogram of a 16 kHz recording, [80, floor(n/160)] row-major: centered frames with reflected
 * ends, the last frame dropped, log10 floored at 8 below the maximum of this call, then (x+4)/4.
 */
export function logMel(recording: Recording): Float32Array<ArrayBuffer> {
  const frames = Math.floor(recording.length / HOP);
  const out = new Float32Array(MEL_BANDS * frames);
  const filters = melFilters();
  const powerSpectrum = createPowerSpectrum();
  const frame = new Float64Array(FRAME_LENGTH);
  const power = new Float64Array(BIN_COUNT);
  let loudest = -Infinity;
  for (let block = 0; block < frames; block += SEGMENT_FRAMES) {
    const end = Math.min(block + SEGMENT_FRAMES, frames);
    // Samples reflected at an end are within the frames that need them.
    const from = Math.max(0, block * HOP - FRAME_LENGTH / 2);
    const samples = recording.read(from, Math.min(recording.length, end * HOP + FRAME_LENGTH / 2));
    for (let f = block; f < end; f++) {
      const start = f * HOP - FRAME_LENGTH / 2;
      // Most of a short recording's segment is padding.
      let isSilent = true;
      for (let i = 0; i < FRAME_LENGTH; i++) {
        const sample = samples[reflect(start + i, recording.length) - from] ?? 0;
        frame[i] = sample;
        isSilent &&= sample === 0;
      }
      if (!isSilent) powerSpectrum(frame, power);
      for (let band = 0; band < MEL_BANDS; band++) {
        const level = isSilent ? SILENT : Math.log10(Math.max(bandEnergy(filters[band], power), FLOOR));
        out[band * frames + f] = level;
        if (level > loudest) loudest = level;
      }
    }
  }
  for (let i = 0; i < out.length; i++) out[i] = (Math.max(out[i] ?? 0, loudest - 8) + 4) / 4;
  return out;
}

/**
 * One segment of the spectrogram as Hugging Face's Whisper feature extractor computes it (musetalk): the waveform is
 * cut into segments of 30 s, the last one is padded with zero samples, and each has its own maximum. [80, 3000].
 */
export function segmentLogMel(recording: Recording, segment: number): Float32Array<ArrayBuffer> {
  const start = segment * SEGMENT_SAMPLES;
  return logMel(recordingOf(recording.read(start, start + SEGMENT_SAMPLES)));
}

/**
 * Frames [start, start + 3000) of a spectrogram, padded beyond its end with 0.0, which is not silence. This is how
 * OpenAI's Whisper (latentsync, highsync) cuts the one spectrogram of the whole file, which has one maximum. [80,
 * 3000].
 */
export function melSlice(mel: Float32Array, start: number): Float32Array<ArrayBuffer> {
  const frames = mel.length / MEL_BANDS;
  const slice = new Float32Array(MEL_BANDS * SEGMENT_FRAMES);
  const end = Math.min(start + SEGMENT_FRAMES, frames);
  for (let band = 0; band < MEL_BANDS; band++) {
    const row = band * frames;
    slice.set(mel.subarray(row + start, row + end), band * SEGMENT_FRAMES);
  }
  return slice;
}

/** Mirrors an index at the first and last sample, repeatedly for a very short signal. */
function reflect(index: number, length: number): number {
  if (index >= 0 && index < length) return index;
  const period = 2 * (length - 1);
  const wrapped = ((index % period) + period) % period;
  return wrapped < length ? wrapped : period - wrapped;
}

function bandEnergy(filter: ReturnType<typeof melFilters>[number] | undefined, power: Float64Array): number {
  if (filter === undefined) return 0;
  let sum = 0;
  for (let i = 0; i < filter.weights.length; i++) {
    sum += (filter.weights[i] ?? 0) * (power[filter.firstBin + i] ?? 0);
  }
  return sum;
}

export const MEL_BANDS = 80;
const BIN_HZ = 40;
const TOP_HZ = 8000;

/** One triangular filter: weights for the bins from `firstBin` on. */
interface MelFilter {
  readonly firstBin: number;
  readonly weights: Float64Array;
}

/** Whisper's 80 filters: Slaney's mel scale (linear below 1 kHz, logarithmic above) and area normalization. */
function melFilters(): MelFilter[] {
  const edges = melEdges();
  return Array.from({ length: MEL_BANDS }, (_, band) => {
    const [low = 0, center = 0, high = 0] = edges.slice(band, band + 3);
    const weight = (bin: number): number => {
      const hertz = bin * BIN_HZ;
      const slope = Math.min((hertz - low) / (center - low), (high - hertz) / (high - center));
      return (Math.max(0, slope) * 2) / (high - low);
    };
    const bins = Array.from({ length: BIN_COUNT }, (_, bin) => bin).filter((bin) => weight(bin) > 0);
    return { firstBin: bins[0] ?? 0, weights: Float64Array.from(bins, weight) };
  });
}

/** The corners of the triangles in Hz: band i rises from edge i to edge i+1 and falls to edge i+2. */
function melEdges(): number[] {
  const top = hertzToMel(TOP_HZ);
  return Array.from({ length: MEL_BANDS + 2 }, (_, i) => melToHertz((top * i) / (MEL_BANDS + 1)));
}

function hertzToMel(hertz: number): number {
  return hertz < 1000 ? (3 * hertz) / 200 : 15 + (27 * Math.log(hertz / 1000)) / Math.log(6.4);
}

function melToHertz(mel: number): number {
  return mel < 15 ? (200 * mel) / 3 : 1000 * Math.exp((Math.log(6.4) * (mel - 15)) / 27);
}

/** Samples of one analysis frame. */
const FRAME_LENGTH = 400;
/** Bins 0 … 8 kHz at 16 kHz, 40 Hz apart. */
const BIN_COUNT = FRAME_LENGTH / 2 + 1;

const HALF = FRAME_LENGTH / 2;

/**
 * |DFT|² of 400 real samples under a periodic Hann window, in double precision. Pairs of real samples are packed into
 * complex numbers, so that the transform has half the length; the spectrum is then separated by symmetry.
 */
function createPowerSpectrum(): (frame: Float64Array, power: Float64Array) => void {
  const fft = createComplexFft([5, 5, 4, 2]);
  const window = Float64Array.from(
    { length: FRAME_LENGTH },
    (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / FRAME_LENGTH),
  );
  const cos = Float64Array.from({ length: BIN_COUNT }, (_, k) => Math.cos((2 * Math.PI * k) / FRAME_LENGTH));
  const sin = Float64Array.from({ length: BIN_COUNT }, (_, k) => -Math.sin((2 * Math.PI * k) / FRAME_LENGTH));
  const even = new Float64Array(HALF);
  const odd = new Float64Array(HALF);
  return (frame, power) => {
    for (let i = 0; i < HALF; i++) {
      even[i] = (frame[2 * i] ?? 0) * (window[2 * i] ?? 0);
      odd[i] = (frame[2 * i + 1] ?? 0) * (window[2 * i + 1] ?? 0);
    }
    const { re, im } = fft(even, odd);
    for (let k = 0; k < BIN_COUNT; k++) {
      const a = k % HALF;
      const b = (HALF - k) % HALF;
      const evenRe = ((re[a] ?? 0) + (re[b] ?? 0)) / 2;
      const evenIm = ((im[a] ?? 0) - (im[b] ?? 0)) / 2;
      const oddRe = ((im[a] ?? 0) + (im[b] ?? 0)) / 2;
      const oddIm = ((re[b] ?? 0) - (re[a] ?? 0)) / 2;
      const c = cos[k] ?? 0;
      const s = sin[k] ?? 0;
      const x = evenRe + oddRe * c - oddIm * s;
      const y = evenIm + oddRe * s + oddIm * c;
      power[k] = x * x + y * y;
    }
  };
}

/** Mono samples in [-1, 1] that need not be in memory: callers read only the part that they need. */
export interface Recording {
  /** In samples. */
  readonly length: number;
  /** Reads samples [from, to) into new memory. Before the start and beyond the end there is silence. */
  read(from: number, to: number): Float32Array<ArrayBuffer>;
}

/** A recording of `length` samples. `readInside` fills `target` with the samples from `from` on. */
export function recordingFrom(
  length: number,
  readInside: (from: number, target: Float32Array<ArrayBuffer>) => void,
): Recording {
  return {
    length,
    read(from, to) {
      const samples = new Float32Array(to - from);
      const [first, last] = [Math.max(from, 0), Math.min(to, length)];
      if (first < last) readInside(first, samples.subarray(first - from, last - from));
      return samples;
    },
  };
}

/** A recording that is in memory. */
export function recordingOf(samples: Float32Array): Recording {
  return recordingFrom(samples.length, (from, target) =>
    target.set(samples.subarray(from, from + target.length)),
  );
}
