/** What can write the pictures of an output: x264 on the processor, or the encoder on an NVIDIA card. */
export const VIDEO_ENCODERS = ['libx264', 'h264_nvenc'] as const;
/** What can decode pictures: ffmpeg's own decoders, or the decoder on an NVIDIA card. */
export const VIDEO_DECODERS = ['software', 'cuda'] as const;

export type VideoEncoder = (typeof VIDEO_ENCODERS)[number];
export type VideoDecoder = (typeof VIDEO_DECODERS)[number];

/** The codecs that a process uses for pictures. */
export interface VideoCodecs {
  readonly encoder: VideoEncoder;
  readonly decoder: VideoDecoder;
}

/** The part of the codecs (encoder or decoder) that software has replaced. */
export type ReplacedCodec = keyof VideoCodecs;

/** The codecs that work wherever ffmpeg does. */
export const SOFTWARE_CODECS: VideoCodecs = { encoder: 'libx264', decoder: 'software' };

/**
 * The codecs named by VIDEO_ENCODER and VIDEO_DECODER; an absent one means software. The names must be of codecs known
 * to work: `resolveVideoCodecs` makes the choice for `auto`. @throws Error for any other name.
 */
export function namedVideoCodecs(environment: Readonly<Record<string, string | undefined>>): VideoCodecs {
  const named = <Name extends string>(variable: string, names: readonly Name[], absent: Name): Name => {
    const value = environment[variable];
    if (value === undefined || value === '') return absent;
    const name = names.find((known) => known === value);
    if (name === undefined) throw new Error(`${variable} is none of ${names.join(', ')}`);
    return name;
  };
  return {
    encoder: named('VIDEO_ENCODER', VIDEO_ENCODERS, SOFTWARE_CODECS.encoder),
    decoder: named('VIDEO_DECODER', VIDEO_DECODERS, SOFTWARE_CODECS.decoder),
  };
}
