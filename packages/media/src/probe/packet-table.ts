import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { type Binaries } from '../ffmpeg/binaries';
import { probeInput } from '../ffmpeg/input-arguments';
import { DEMUXING_MEMORY_BYTES, startChild } from '../ffmpeg/media-child';
import { beyondLimit, MediaError, MediaProcessError } from '../media-error';

const TABLE_DEADLINE_MS = 120_000;

/**
 * Presentation times of the video packets that will be shown, in units of the stream's time base, in file order. Those of
 * a recording that begins before its first keyframe are left out up to there, because they do not decode.
 */
interface PacketTable {
  readonly pts: readonly number[];
  /** Duration of each packet in the same unit; 0 when the container does not say. */
  readonly durations: readonly number[];
  /** Times of the packets at which a decoder can start. */
  readonly keys: readonly number[];
  /**
   * Packets before the first picture: those decoded only for the sake of later ones, and those of a recording that begins
   * before its first keyframe, which do not decode.
   */
  readonly leadIn: number;
}

/** A table as it was read from a file. */
interface ReadTable extends PacketTable {
  /** The farthest that the decoding times jump back, where they should only rise; in the same unit. */
  readonly stepBack: number;
}

/**
 * Walks the packets of the first video stream without decoding them, so that counts and times reflect what is there,
 * not what a header claims. Packets that an edit list hides are left out.
 * @throws MediaError media_unsupported when there are more than `maxPackets`, media_corrupt when none can be read.
 */
export async function readPacketTable(
  binaries: Binaries,
  file: string,
  maxPackets: number,
  signal?: AbortSignal,
): Promise<ReadTable> {
  const command = [
    binaries.ffprobe,
    ...['-select_streams', 'V:0', '-show_entries', 'packet=pts,dts,duration,flags', '-of', 'compact=p=0'],
    ...probeInput(file),
  ] as const satisfies readonly [string, ...string[]];
  const child = startChild(binaries, command, {
    folder: dirname(file),
    deadlineMs: TABLE_DEADLINE_MS,
    memoryBytes: DEMUXING_MEMORY_BYTES,
    signal,
  });
  child.stdin.end();
  const table = {
    pts: new Array<number>(),
    durations: new Array<number>(),
    keys: new Array<number>(),
    leadIn: 0,
    stepBack: 0,
    decodes: false,
    undecodable: 0,
    dts: -Infinity,
  };
  let packets = 0;
  for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
    // In MPEG-TS, ffprobe ends each packet with an empty line.
    if (line === '') continue;
    packets += 1;
    if (packets > maxPackets) {
      child.kill();
      break;
    }
    addPacket(table, line);
  }
  const exit = await child.exit;
  if (packets > maxPackets)
    throw beyondLimit(
      'media_unsupported',
      `The video has more than ${maxPackets} frames; export it with at most 60 per second.`,
    );
  if (exit.ended !== 'exit') throw new MediaProcessError(exit.ended, exit.stderr);
  if (exit.code !== 0) throw new MediaError('media_corrupt', exit.stderr);
  return withoutUndecodable(table);
}

interface GrowingTable {
  pts: number[];
  durations: number[];
  keys: number[];
  leadIn: number;
  stepBack: number;
  /** Whether there has been a keyframe, and how many pictures came before it. */
  decodes: boolean;
  undecodable: number;
  /** The decoding time of the last packet. */
  dts: number;
}

function addPacket(table: GrowingTable, line: string): void {
  const entries = new Map(
    line.split('|').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
  const flags = entries.get('flags') ?? '';
  if (flags.startsWith('K')) table.decodes = true;
  const dts = integer(entries.get('dts'));
  const pts = integer(entries.get('pts')) ?? dts;
  if (dts !== undefined) {
    table.stepBack = Math.max(table.stepBack, table.dts - dts);
    table.dts = dts;
  }
  const shown = pts !== undefined && !flags.includes('D');
  if (!table.decodes || (!shown && table.pts.length === 0)) table.leadIn += 1;
  if (!shown) return;
  if (!table.decodes) table.undecodable += 1;
  table.pts.push(pts);
  table.durations.push(integer(entries.get('duration')) ?? 0);
  if (flags.startsWith('K')) table.keys.push(pts);
}

function integer(value: string | undefined): number | undefined {
  return value !== undefined && /^-?\d+$/.test(value) ? Number(value) : undefined;
}

/** Leaves out the pictures before the first keyframe, if there is one. */
function withoutUndecodable(table: GrowingTable): GrowingTable {
  const first = table.decodes ? table.undecodable : 0;
  return { ...table, pts: table.pts.slice(first), durations: table.durations.slice(first) };
}

/**
 * Seconds from the first picture's appearance to the end of the last one; an unknown last duration counts as the median
 * time between two, as in the clip's clock: the mean would contain pauses.
 */
export function tableSeconds(table: PacketTable, timeBase: { num: number; den: number }): number {
  const shown = Float64Array.from(table.pts).sort();
  const [first, last] = [shown[0], shown.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const end = table.pts.reduce((most, pts, i) => Math.max(most, pts + (table.durations[i] ?? 0)), last);
  const steps = shown.subarray(1).map((pts, i) => pts - (shown[i] ?? 0));
  const usual = steps.sort()[steps.length >> 1] ?? 0;
  return (((end === last ? last + usual : end) - first) * timeBase.num) / timeBase.den;
}
