import { WORKING_FPS } from '@lipsync/domain';
import { FILL_HOLES } from '../audio/audio-filters';
import { ffmpegInput } from '../ffmpeg/input-arguments';
import { type AudioStream } from '../probe/stream-info';

/** The sound of an output: the original file, cut or continued with silence where the sync mode says so. */
export interface EncoderAudio {
  readonly path: string;
  readonly stream: AudioStream;
  /** Keep only this much. */
  readonly trimSeconds?: number | undefined;
  /** Continue with silence up to here. */
  readonly padToSeconds?: number | undefined;
}

/** Samples of one packet, by profile: those that every player of MP4 decodes. */
const PACKET_SAMPLES: Readonly<Record<string, number>> = { LC: 1024, 'HE-AAC': 2048, 'HE-AACv2': 2048 };
/** Highest rate that AAC players agree on; the original's is kept below it. */
const AAC_RATE_MAX = 48_000;
const SURROUND_CHANNELS = 6;

/**
 * True when the original packets are taken over as they are. MP4 holds more codecs than AAC, but not every player plays
 * them there. A cut falls between two packets: it is left to the encoder where a packet is longer than a frame.
 */
export function copiesAudio(audio: EncoderAudio): boolean {
  const { codec, profile = '', sampleRate } = audio.stream;
  const packetSamples = codec === 'aac' ? PACKET_SAMPLES[profile] : undefined;
  if (packetSamples === undefined || audio.padToSeconds !== undefined) return false;
  return audio.trimSeconds === undefined || packetSamples / sampleRate <= 1 / WORKING_FPS;
}

/** The sound's file as an input. */
export function audioInput(audio: EncoderAudio): string[] {
  const { startSeconds } = audio.stream;
  return ffmpegInput(audio.path, [
    // A sound that starts late in its file starts with the picture here.
    ...(startSeconds > 0 ? ['-itsoffset', (-startSeconds).toFixed(6)] : []),
    ...(copiesAudio(audio) && audio.trimSeconds !== undefined ? ['-t', audio.trimSeconds.toFixed(6)] : []),
  ]);
}

/** Output arguments for the sound: copied, else AAC with the original's rate and channels where players have them. */
export function audioEncoderArguments(audio: EncoderAudio): string[] {
  if (copiesAudio(audio)) return ['-c:a', 'copy'];
  const { sampleRate, channels } = audio.stream;
  const surround = channels === SURROUND_CHANNELS;
  return [
    ...['-af', filters(audio).join(','), '-c:a', 'aac', '-b:a', surround ? '384k' : '192k'],
    ...(sampleRate > AAC_RATE_MAX ? ['-ar', String(AAC_RATE_MAX)] : []),
    ...(channels > 2 ? ['-ac', surround ? String(SURROUND_CHANNELS) : '2'] : []),
  ];
}

/** Time zero is the first sample: at the beginning, that is, and not where filters begin anew. */
const FROM_ZERO = 'asetpts=PTS-STARTPTS*lt(STARTT\\,0.1)';

/**
 * By the sound's own clock and by no count: where its channels change midway (joined MP3s, chained Ogg) ffmpeg begins with
 * new filters, and counts would begin again.
 */
function filters({ trimSeconds, padToSeconds }: EncoderAudio): string[] {
  const end = padToSeconds ?? trimSeconds;
  return [
    ...[FROM_ZERO, `aresample=${FILL_HOLES}`],
    ...(padToSeconds === undefined ? [] : ['apad']),
    ...(end === undefined ? [] : [`atrim=end=${end.toFixed(6)}`]),
  ];
}
