import { FILL_HOLES } from '../audio-reader';
import { ffmpegInput } from '../ffmpeg/input-arguments';
import { type AudioStream } from '../probe/stream-info';

/** The sound of an output: the original file, cut or extended with silence where the sync mode requires it. */
export interface EncoderAudio {
  readonly path: string;
  readonly stream: AudioStream;
  /** Keep only this many seconds. */
  readonly trimSeconds?: number | undefined;
  /** Extend with silence up to this time. */
  readonly padToSeconds?: number | undefined;
}

/** Samples per packet, for the profiles that every MP4 player decodes. */
const PACKET_SAMPLES: Readonly<Record<string, number>> = { LC: 1024, 'HE-AAC': 2048, 'HE-AACv2': 2048 };
/** By how much a copied sound may outlast the pictures that it is cut to: its last packet. */
const LONGEST_CUT_PACKET_SECONDS = 0.04;

/**
 * True when the original packets are copied unchanged. MP4 can hold codecs other than AAC, but not every player plays
 * them there. A cut falls between two packets, so the encoder makes the cut where packets are long.
 */
export function copiesAudio(audio: EncoderAudio): boolean {
  const { codec, profile = '', sampleRate } = audio.stream;
  const packetSamples = codec === 'aac' ? PACKET_SAMPLES[profile] : undefined;
  if (packetSamples === undefined || audio.padToSeconds !== undefined) return false;
  return audio.trimSeconds === undefined || packetSamples / sampleRate <= LONGEST_CUT_PACKET_SECONDS;
}

/** Input arguments for the sound's file. */
export function audioInput(audio: EncoderAudio): string[] {
  const { startSeconds } = audio.stream;
  return ffmpegInput(audio.path, [
    // A sound that starts late in its own file starts together with the picture here.
    ...(startSeconds > 0 ? ['-itsoffset', (-startSeconds).toFixed(6)] : []),
    ...(copiesAudio(audio) && audio.trimSeconds !== undefined ? ['-t', audio.trimSeconds.toFixed(6)] : []),
  ]);
}

/** Highest sample rate that AAC players agree on; the output keeps the original's rate below this limit. */
const AAC_RATE_MAX = 48_000;
const SURROUND_CHANNELS = 6;
/** At 160 kb/s ffmpeg's encoder is as good as it gets for voices, and adds less than -20 dB of noise to noise. */
const BITS_PER_SECOND_OF_CHANNEL = 160_000;

/**
 * Output arguments for the sound: copied, otherwise AAC with the original's rate and channels where players support
 * them.
 */
export function audioEncoderArguments(audio: EncoderAudio): string[] {
  const language = audio.stream.language ?? '';
  return [
    ...(copiesAudio(audio) ? ['-c:a', 'copy'] : aacArguments(audio)),
    ...(/^[a-z]{3}$/.test(language) ? ['-metadata:s:a:0', `language=${language}`] : []),
  ];
}

function aacArguments(audio: EncoderAudio): string[] {
  const { sampleRate, channels } = audio.stream;
  const kept = channels <= 2 || channels === SURROUND_CHANNELS ? channels : 2;
  return [
    ...['-af', filters(audio).join(','), '-c:a', 'aac', '-b:a', String(kept * BITS_PER_SECOND_OF_CHANNEL)],
    ...(sampleRate > AAC_RATE_MAX ? ['-ar', String(AAC_RATE_MAX)] : []),
    ...(channels > 2 ? ['-ac', String(kept)] : []),
  ];
}

/** Time zero is the first sample, but only at the beginning of the sound, not where filters restart. */
const FROM_ZERO = 'asetpts=PTS-STARTPTS*lt(STARTT\\,0.1)';

/**
 * The filters go by the sound's own clock, never by a sample count: where the channels change midway (joined MP3s,
 * chained Ogg), ffmpeg starts new filters, and counts would start again.
 */
function filters({ trimSeconds, padToSeconds }: EncoderAudio): string[] {
  const end = padToSeconds ?? trimSeconds;
  return [
    ...[FROM_ZERO, `aresample=${FILL_HOLES}`],
    ...(padToSeconds === undefined ? [] : ['apad']),
    ...(end === undefined ? [] : [`atrim=end=${end.toFixed(6)}`]),
  ];
}
