import { availableParallelism, totalmem } from 'node:os';
import { detectSandbox, findExecutable, type Sandbox, unconfined } from './sandbox';

/** The tools that every function of this package runs. Resolve them once at start and pass them on. */
export interface Binaries {
  readonly ffmpeg: string;
  readonly ffprobe: string;
  readonly sandbox: Sandbox;
  /** The codecs for reading and writing pictures; the readers and the encoder of this package use these. */
  readonly codecs: VideoCodecs;
  /** In what outputs come back, see `outputFormat`. */
  readonly output: VideoOutput;
  /** Called every time software takes a card's place. */
  readonly onReplaced?: (codec: ReplacedCodec) => void;
  /** The memory of each child, and the threads of each codec. */
  readonly share: MachineShare;
  /** The whole environment of a child that uses a card; every other child gets an empty environment. */
  readonly deviceEnvironment: Readonly<Record<string, string>>;
}

/** Where a card's libraries are and which card a process may use. */
const DEVICE_VARIABLES = ['LD_LIBRARY_PATH', 'CUDA_VISIBLE_DEVICES', 'CUDA_DEVICE_ORDER'];

/**
 * The environment variables read here: FFMPEG_BIN, FFPROBE_BIN, PATH, VIDEO_ENCODER, VIDEO_DEEP_ENCODER and
 * VIDEO_DECODER (names of codecs that are known to work), VIDEO_OUTPUT, those that a card needs, and MEDIA_SANDBOX. If
 * that is `required`, a machine that cannot confine the tools is an error; otherwise they run with what confinement
 * there is.
 */
type BinaryEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Finds ffmpeg (FFMPEG_BIN, else the optional ffmpeg-static package, else PATH), ffprobe (FFPROBE_BIN, else PATH) and
 * what the machine offers to confine them. A variable that names no executable file is an error and is never skipped.
 * `processes` is how many processes share the machine's cores and memory, each with a decoder and an encoder at work.
 */
export async function resolveBinaries(environment: BinaryEnvironment, processes = 1): Promise<Binaries> {
  const searchPath = environment['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
  const program = (variable: 'FFMPEG_BIN' | 'FFPROBE_BIN'): string | undefined => {
    const value = environment[variable];
    if (value === undefined || value === '') return undefined;
    const found = findExecutable(value, searchPath);
    if (found === undefined) throw new Error(`${variable} names no executable file: ${value}`);
    return found;
  };
  const ffmpeg =
    program('FFMPEG_BIN') ?? (await bundledFfmpeg(searchPath)) ?? findExecutable('ffmpeg', searchPath);
  const ffprobe = program('FFPROBE_BIN') ?? findExecutable('ffprobe', searchPath);
  if (ffmpeg === undefined) throw new Error('ffmpeg not found: install it or set FFMPEG_BIN');
  if (ffprobe === undefined) throw new Error('ffprobe not found: install it or set FFPROBE_BIN');
  const deviceEnvironment: Record<string, string> = {};
  for (const name of DEVICE_VARIABLES) {
    const value = environment[name];
    if (value !== undefined) deviceEnvironment[name] = value;
  }
  const codecs = namedVideoCodecs(environment);
  const output = named(environment, 'VIDEO_OUTPUT', VIDEO_OUTPUTS, 'source');
  const share = machineShare({ cores: availableParallelism(), memoryBytes: usableMemory() }, processes);
  const sandbox = detectSandbox(searchPath);
  const missing = unconfined(sandbox);
  if (environment['MEDIA_SANDBOX'] === 'required' && missing.length > 0)
    throw new Error(
      `media tools cannot be confined here: ${missing.join('; ')}. MEDIA_SANDBOX=preferred runs them all the same`,
    );
  return { ffmpeg, ffprobe, sandbox, codecs, output, share, deviceEnvironment };
}

/** ffmpeg-static returns a path even when its download never happened, so the file itself is checked. */
async function bundledFfmpeg(searchPath: string): Promise<string | undefined> {
  try {
    const bundled = (await import('ffmpeg-static')).default;
    return typeof bundled === 'string' ? findExecutable(bundled, searchPath) : undefined;
  } catch {
    return undefined; // An optional dependency that this installation left out.
  }
}

/** What can write pictures of 8 bits, as H.264: x264 on the processor, or the encoder on an NVIDIA card. */
export const VIDEO_ENCODERS = ['libx264', 'h264_nvenc'] as const;
/** What can write pictures of 10 bits, as HEVC, likewise. */
const DEEP_VIDEO_ENCODERS = ['libx265', 'hevc_nvenc'] as const;
/** What can decode pictures: ffmpeg's own decoders, or the decoder on an NVIDIA card. */
export const VIDEO_DECODERS = ['software', 'cuda'] as const;
/** In what outputs come back: as their sources are, or always as H.264, which has 8 bits and no HDR. */
export const VIDEO_OUTPUTS = ['source', 'h264'] as const;

export type VideoEncoder = VideoCodecs['encoder'] | VideoCodecs['deepEncoder'];
export type VideoDecoder = VideoCodecs['decoder'];
export type VideoOutput = (typeof VIDEO_OUTPUTS)[number];

/** The codecs that a process uses for pictures. */
export interface VideoCodecs {
  /** For pictures of 8 bits. */
  readonly encoder: (typeof VIDEO_ENCODERS)[number];
  /** For pictures of 10 bits. */
  readonly deepEncoder: (typeof DEEP_VIDEO_ENCODERS)[number];
  readonly decoder: (typeof VIDEO_DECODERS)[number];
}

/** Bits of the pictures that an encoder writes. */
export const ENCODER_DEPTH: Readonly<Record<VideoEncoder, 8 | 10>> = {
  libx264: 8,
  h264_nvenc: 8,
  libx265: 10,
  hevc_nvenc: 10,
};

/** The part of the codecs that software has replaced. */
export type ReplacedCodec = 'encoder' | 'decoder';

/** The codecs that need no card. */
export const SOFTWARE_CODECS: VideoCodecs = {
  encoder: 'libx264',
  deepEncoder: 'libx265',
  decoder: 'software',
};

/**
 * The codecs named by VIDEO_ENCODER, VIDEO_DEEP_ENCODER and VIDEO_DECODER; an absent one means software. The names must
 * be of codecs known to work: `resolveVideoCodecs` makes the choice for `auto`. @throws Error for any other name.
 */
function namedVideoCodecs(environment: BinaryEnvironment): VideoCodecs {
  return {
    encoder: named(environment, 'VIDEO_ENCODER', VIDEO_ENCODERS, SOFTWARE_CODECS.encoder),
    deepEncoder: named(environment, 'VIDEO_DEEP_ENCODER', DEEP_VIDEO_ENCODERS, SOFTWARE_CODECS.deepEncoder),
    decoder: named(environment, 'VIDEO_DECODER', VIDEO_DECODERS, SOFTWARE_CODECS.decoder),
  };
}

/** The name that a variable has as its value. */
function named<Name extends string>(
  environment: BinaryEnvironment,
  variable: string,
  names: readonly Name[],
  absent: Name,
): Name {
  const value = environment[variable];
  if (value === undefined || value === '') return absent;
  const name = names.find((known) => known === value);
  if (name === undefined) throw new Error(`${variable} is none of ${names.join(', ')}`);
  return name;
}

/** What the tools that one of several processes starts may use of the machine. */
interface MachineShare {
  /** Writable memory of each tool. */
  readonly memoryBytes: number;
  /** Threads of each decoder. */
  readonly decoderThreads: number;
  /** Threads of each encoder. */
  readonly encoderThreads: number;
}

/** Far above what 4K needs with all threads, far below what hurts a large machine. */
const MEMORY_MOST = 6 * 1024 ** 3;
/** The rest is for the services' own processes and for what they write to memory-backed folders. */
const MEMORY_PART = 3 / 4;
/**
 * Writable memory for pictures of 4096x2160: with one thread, and for each further one. Measured with ffmpeg 5.1: the
 * most that a decoder of an accepted codec took (10-bit HEVC, ProRes 4444), and an output with x264 and AAC; with room
 * for the stacks of the filters' threads, of which there are more on a machine with more cores. x265 takes 2 GiB with any
 * number of threads, of which fewer would not help.
 */
const DECODER = { first: 512 * 1024 ** 2, further: 80 * 1024 ** 2 };
const ENCODER = { first: 1280 * 1024 ** 2, further: 136 * 1024 ** 2 };

/**
 * The share of each of `processes` that each run one decoder and one encoder at a time. No tool can take more memory
 * than the machine or its container has, and the codecs get no more threads than fit into that.
 */
export function machineShare(
  { cores, memoryBytes: all }: { readonly cores: number; readonly memoryBytes: number },
  processes: number,
): MachineShare {
  const memoryBytes = Math.min(MEMORY_MOST, Math.floor((MEMORY_PART * all) / processes));
  const within = ({ first, further }: typeof DECODER): number =>
    Math.max(1, Math.min(codecThreads(cores, processes), 1 + Math.floor((memoryBytes - first) / further)));
  return { memoryBytes, decoderThreads: within(DECODER), encoderThreads: within(ENCODER) };
}

/** An encoder of 4K already holds 3 GiB of pictures with this many. */
const THREADS_MOST = 16;
/** The number of threads that x264 itself uses per core. */
const THREADS_PER_CORE = 1.5;

/**
 * Threads for one decoder and for one encoder when this many processes, each running one of both, share the cores. Left
 * to themselves, the codecs count all cores of the machine and hold a picture or two for each.
 */
export function codecThreads(cores: number, processes: number): number {
  return Math.max(1, Math.min(THREADS_MOST, Math.ceil((cores * THREADS_PER_CORE) / processes)));
}

/** Bytes that this process and those that it starts may use: the container's limit, or the machine's memory. */
export function usableMemory(): number {
  // 0 or more than the machine has means that this container has no limit.
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
