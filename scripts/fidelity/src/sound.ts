import { ffmpeg, ffprobe } from '@lipsync/testkit';

export interface SoundComparison {
  /** By how much the sound comes later than in the voice, and how well it fits there. */
  readonly offset_ms: number;
  /** The loudest channel over the worst noise of any, in dB; 99 if equal. */
  readonly snr_db: number;
  /** Part of the output's packets that are packets of the voice. */
  readonly copied: number;
}

const RATE = 48_000;
const MOST_SAMPLES = 2_400;

/** Compares the sound of an output with the voice; where the channels differ in number, both as one. */
export async function compareSound(
  voice: { path: string; channels: number },
  output: { path: string; channels: number },
): Promise<SoundComparison> {
  const channels = voice.channels === output.channels ? voice.channels : 1;
  const [a, b] = [await channelsOf(voice.path, channels), await channelsOf(output.path, channels)];
  const offset = offsetOf(a[0] ?? new Float32Array(), b[0] ?? new Float32Array());
  return {
    offset_ms: Math.round((offset * 1e5) / RATE) / 100,
    snr_db: snr(a.map((channel, i) => energies(channel, b[i] ?? new Float32Array(), offset))),
    copied: await copiedPart(voice.path, output.path),
  };
}

/** How long a voice is, in seconds. */
export async function secondsOf(path: string): Promise<number> {
  return ((await channelsOf(path, 1))[0]?.length ?? 0) / RATE;
}

/** As players play it: a container may begin its sound late, or with padding to skip. */
async function channelsOf(path: string, channels: number): Promise<Float32Array[]> {
  const play = [
    '-map',
    '0:a:0',
    '-af',
    'aresample=async=1:first_pts=0',
    '-ac',
    `${channels}`,
    '-ar',
    `${RATE}`,
  ];
  const bytes = await ffmpeg(['-i', path, ...play, '-f', 'f32le', 'pipe:1']);
  const samples = new Float32Array(new Uint8Array(bytes).buffer);
  return Array.from({ length: channels }, (_, channel) =>
    Float32Array.from({ length: samples.length / channels }, (_s, i) => samples[i * channels + channel] ?? 0),
  );
}

/** The shift in samples at which the first second of both is most alike. */
function offsetOf(a: Float32Array, b: Float32Array): number {
  let [best, most] = [0, -Infinity];
  for (let shift = -MOST_SAMPLES; shift <= MOST_SAMPLES; shift += 1) {
    let sum = 0;
    for (let i = MOST_SAMPLES; i < RATE; i += 1) sum += (a[i] ?? 0) * (b[i + shift] ?? 0);
    if (sum > most) [best, most] = [shift, sum];
  }
  return best;
}

interface Energies {
  readonly signal: number;
  readonly noise: number;
}

function energies(a: Float32Array, b: Float32Array, offset: number): Energies {
  let [signal, noise] = [0, 0];
  // Without the last 0.1 s: an encoder's last frame has to do with half of its sound.
  for (let i = Math.max(0, -offset); i < Math.min(a.length, b.length - offset) - RATE / 10; i += 1) {
    const [was, is] = [a[i] ?? 0, b[i + offset] ?? 0];
    signal += was ** 2;
    noise += (is - was) ** 2;
  }
  return { signal, noise };
}

function snr(channels: readonly Energies[]): number {
  const signal = Math.max(...channels.map((channel) => channel.signal));
  const noise = Math.max(...channels.map((channel) => channel.noise));
  return noise === 0 ? 99 : Math.min(99, 10 * Math.log10(signal / noise));
}

async function copiedPart(voice: string, output: string): Promise<number> {
  const [had, has] = [new Set(await packets(voice)), await packets(output)];
  return has.filter((hash) => had.has(hash)).length / has.length;
}

async function packets(path: string): Promise<string[]> {
  const hashes = ['-select_streams', 'a:0', '-show_entries', 'packet=data_hash', '-show_data_hash', 'md5'];
  return (await ffprobe([...hashes, '-of', 'csv=p=0', path])).split('\n').filter((line) => line !== '');
}
