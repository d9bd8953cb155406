import { type Fidelity, type OutputFigures } from './measure-case';

/** What a render of video has to keep. */
export const BOUNDS = {
  movedMs: 1,
  frameMs: 100,
  /** A share of the pixels of a picture, beyond that of the source before it was woven. */
  combing: 0.002,
  /** A share of the source's codes of luma. */
  codes: 0.8,
  soundOffsetMs: 0.1,
  /** For sound that is encoded again. */
  soundSnrDb: 30,
} as const;

/** In words, what a render lost; nothing if it is as it has to be. */
export function faultsOf({ error, source, output }: Fidelity): string[] {
  if (output === undefined) return [`no output: ${error}`];
  return [...pictureFaults(output), ...colorFaults(source, output), ...soundFaults(source, output)];
}

function pictureFaults({
  pictures,
  outside_face: outside,
  combing,
  luma_codes: codes,
}: OutputFigures): string[] {
  const { dropped, repeated, unreadable, moved_ms, longest_frame_ms, late_end_ms } = pictures;
  return said({
    [`${dropped} of ${pictures.expected} pictures dropped`]: dropped > 0,
    [`${repeated} frames repeated`]: repeated > 0,
    [`${unreadable} pictures are none of the source`]: unreadable > 0,
    [`a picture moved by ${moved_ms} ms`]: moved_ms > BOUNDS.movedMs,
    [`a frame stays ${longest_frame_ms} ms`]: longest_frame_ms > BOUNDS.frameMs + BOUNDS.movedMs,
    [`ends ${late_end_ms} ms late`]: Math.abs(late_end_ms) > longest_frame_ms + BOUNDS.movedMs,
    [`${outside?.psnr_db.toFixed(1) ?? 'no'} dB outside the face`]: !(
      outside && outside.psnr_db >= outside.wanted_db
    ),
    [`${(100 * combing.output).toFixed(1)} % combed`]: combing.output > combing.source + BOUNDS.combing,
    [`${codes.output} codes of luma of ${codes.source}`]: codes.output < BOUNDS.codes * codes.source,
  });
}

/** Facts of a picture that come back as they were. */
const KEPT = ['aspect', 'primaries', 'transfer', 'matrix', 'timecode'] as const;

function colorFaults(source: Fidelity['source'], output: OutputFigures): string[] {
  const [was, is] = [source.video, output.video];
  if (was === undefined || is === undefined) return ['no video'];
  const depth = was.depth > 8 ? 10 : 8;
  const hdr = Object.entries(was.hdr).filter(([name, value]) => is.hdr[name] !== value);
  return [
    ...KEPT.filter((name) => was[name] !== undefined && was[name] !== is[name]).map(
      (name) => `${name} ${is[name] ?? 'gone'} instead of ${was[name]}`,
    ),
    ...hdr.map(([name, value]) => `${name} ${is.hdr[name] ?? 'gone'} instead of ${value}`),
    ...said({
      // Limited, unless a file says otherwise.
      [`range ${is.range} instead of ${was.range}`]: (is.range ?? 'tv') !== (was.range ?? 'tv'),
      [`${is.depth} bits instead of ${depth}`]: is.depth !== depth,
      [`${is.codec} ${is.tag}`]: `${is.codec} ${is.tag}` !== (depth === 8 ? 'h264 avc1' : 'hevc hvc1'),
      [`${is.fields} pictures`]: is.fields !== undefined && is.fields !== 'progressive',
    }),
  ];
}

function soundFaults({ sound: was }: Fidelity['source'], { sound: is }: OutputFigures): string[] {
  if (was === undefined || is === undefined) return ['no sound'];
  return said({
    [`sound moved by ${is.offset_ms} ms`]: Math.abs(is.offset_ms) > BOUNDS.soundOffsetMs,
    [`sound of ${is.snr_db.toFixed(1)} dB`]: is.snr_db < BOUNDS.soundSnrDb,
    [`${was.codec} encoded again`]: was.codec === 'aac' && is.copied < 0.95,
    [`${is.channels} channels instead of ${was.channels}`]: is.channels !== was.channels,
    [`language ${is.language ?? 'gone'} instead of ${was.language}`]: is.language !== was.language,
  });
}

const said = (faults: Readonly<Record<string, boolean>>): string[] =>
  Object.keys(faults).filter((fault) => faults[fault]);
