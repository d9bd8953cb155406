import { MEL_BANDS, melFilters } from './mel-filters';
import { BIN_COUNT, createPowerSpectrum, FRAME_LENGTH } from './power-spectrum';
import { type Recording, recordingOf } from './recording';

export const SAMPLE_RATE = 16_000;
/** Samples between frames: 10 ms. */
export const HOP = 160;
/** Whisper sees 30 s at a time. */
export const SEGMENT_SAMPLES = 30 * SAMPLE_RATE;
export const SEGMENT_FRAMES = SEGMENT_SAMPLES / HOP;

/**
 * Whisper's log-mel spectrogram of a 16 kHz recording, [80, floor(n/160)] row-major: centred frames with reflected
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
    const heard = samplesOf(recording, block, Math.min(block + SEGMENT_FRAMES, frames));
    for (let f = block; f < Math.min(block + SEGMENT_FRAMES, frames); f++) {
      readFrame(heard, f * HOP - FRAME_LENGTH / 2, recording.length, frame);
      powerSpectrum(frame, power);
      for (let band = 0; band < MEL_BANDS; band++) {
        const level = Math.log10(Math.max(bandEnergy(filters[band], power), 1e-10));
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

/** Part of a recording, and the position of its first sample. */
interface Heard {
  readonly from: number;
  readonly samples: Float32Array;
}

/**
 * All samples that frames [first, last) are computed from. Samples reflected at an end are within the frames that need
 * them.
 */
function samplesOf(recording: Recording, first: number, last: number): Heard {
  const from = Math.max(0, first * HOP - FRAME_LENGTH / 2);
  const to = Math.min(recording.length, last * HOP + FRAME_LENGTH / 2);
  return { from, samples: recording.read(from, to) };
}

function readFrame({ from, samples }: Heard, start: number, length: number, frame: Float64Array): void {
  for (let i = 0; i < FRAME_LENGTH; i++) frame[i] = samples[reflect(start + i, length) - from] ?? 0;
}

/** Mirrors an index at the first and last sample, repeatedly for a very short signal. */
function reflect(index: number, length: number): number {
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
