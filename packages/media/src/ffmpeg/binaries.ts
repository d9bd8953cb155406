import { availableParallelism } from 'node:os';
import { findExecutable } from './find-executable';
import { type MachineShare, machineShare, usableMemory } from './machine-share';
import { detectSandbox, type Sandbox, unconfined } from './sandbox';
import { namedVideoCodecs, type ReplacedCodec, type VideoCodecs } from './video-codecs';

/** The tools that every function of this package runs. Resolve them once at start and pass them on. */
export interface Binaries {
  readonly ffmpeg: string;
  readonly ffprobe: string;
  readonly sandbox: Sandbox;
  /** The codecs for reading and writing pictures; the readers and the encoder of this package use these. */
  readonly codecs: VideoCodecs;
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
 * The environment variables read here: FFMPEG_BIN, FFPROBE_BIN, PATH, VIDEO_ENCODER and VIDEO_DECODER (names of codecs
 * that are known to work), those that a card needs, and MEDIA_SANDBOX. If that is `required`, a machine that cannot
 * confine the tools is an error; otherwise they run with what confinement there is.
 */
export type BinaryEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Finds ffmpeg (FFMPEG_BIN, else the optional ffmpeg-static package, else PATH), ffprobe (FFPROBE_BIN, else PATH) and
 * what the machine offers to confine them. A variable that names no executable file is an error and is never skipped.
 * `processes` is how many processes share the machine's cores and memory, each with a decoder and an encoder at work.
 */
export async function resolveBinaries(environment: BinaryEnvironment, processes = 1): Promise<Binaries> {
  const searchPath = environment['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
  const named = (variable: 'FFMPEG_BIN' | 'FFPROBE_BIN'): string | undefined => {
    const value = environment[variable];
    if (value === undefined || value === '') return undefined;
    const found = findExecutable(value, searchPath);
    if (found === undefined) throw new Error(`${variable} names no executable file: ${value}`);
    return found;
  };
  const ffmpeg =
    named('FFMPEG_BIN') ?? (await bundledFfmpeg(searchPath)) ?? findExecutable('ffmpeg', searchPath);
  const ffprobe = named('FFPROBE_BIN') ?? findExecutable('ffprobe', searchPath);
  if (ffmpeg === undefined) throw new Error('ffmpeg not found: install it or set FFMPEG_BIN');
  if (ffprobe === undefined) throw new Error('ffprobe not found: install it or set FFPROBE_BIN');
  const deviceEnvironment: Record<string, string> = {};
  for (const name of DEVICE_VARIABLES) {
    const value = environment[name];
    if (value !== undefined) deviceEnvironment[name] = value;
  }
  const codecs = namedVideoCodecs(environment);
  const share = machineShare({ cores: availableParallelism(), memoryBytes: usableMemory() }, processes);
  const sandbox = detectSandbox(searchPath);
  const missing = unconfined(sandbox);
  if (environment['MEDIA_SANDBOX'] === 'required' && missing.length > 0)
    throw new Error(
      `media tools cannot be confined here: ${missing.join('; ')}. MEDIA_SANDBOX=preferred runs them all the same`,
    );
  return { ffmpeg, ffprobe, sandbox, codecs, share, deviceEnvironment };
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
