import { alternation, type FaceTrack, landmarksAt } from '@lipsync/engines';
import { mean, median } from '@lipsync/local-stack';
import { type Binaries, openClipReader, openFrameSource } from '@lipsync/media';
import { type AnalyzedVideo, DEADLINE_MS } from '../workplace';
import { type FaceSamples, sampleFace } from './face-samples';
import { lipsTouch } from './lip-contact';
import { lipWidth } from './lip-width';
import { type MouthReading } from './mouth-readings';
import { detail, flash, lipsOf, lipUnevenness, mouthBox, type Picture, skinAroundLips } from './pictures';
import { teethChange } from './teeth';

/** One version of a clip, and its mouth in every frame of the output. */
interface Version extends AnalyzedVideo {
  readonly mouth: readonly (MouthReading | null)[];
}

export interface PictureFigures {
  /** Detail of the mouth, rendered over source, in the middling frame. */
  readonly sharpness: number;
  /** How much softer every second mouth is than its neighbors; 1 where none is, see `alternation`. */
  readonly alternation: number;
  /** How uneven closed lips are, rendered over source; null where either never closes them. */
  readonly residue: number | null;
  /** What flashes in the mouth for a single frame, rendered over source, while both hold still; null if they never do. */
  readonly flicker: number | null;
  /** What changes between the lips from frame to frame, rendered over source; null if either shows no teeth. */
  readonly teeth_change: number | null;
  /** Detail of the skin and hair above and below the lips, rendered over source, in the middling frame. */
  readonly texture_above: number | null;
  readonly texture_below: number | null;
}

/** What the color of the rendered lips tells, by frame; null where it cannot be seen. */
interface ByColor {
  /** Whether they touch. */
  readonly contacts: readonly (boolean | null)[];
  /** In eye distances. */
  readonly widths: readonly (number | null)[];
}

/**
 * A mouth whose opening spans no more than this for so many seconds before and after a frame holds still: the landmarks'
 * noise, eye distances.
 */
const STILL = 0.006;
const STILL_SECONDS = 0.08;

/**
 * Compares the mouth's pixels with those of the same source frames.
 * @param indices source frame of every output frame @param closedUpTo openings up to this one are closed lips
 */
export async function comparePictures(
  binaries: Binaries,
  { rendered, source }: { rendered: Version; source: Version },
  indices: readonly number[],
  closedUpTo: number,
): Promise<{ figures: PictureFigures; byColor: ByColor }> {
  const [limits, format] = [{ deadlineMs: DEADLINE_MS }, 'yuv420p'] as const;
  const ours = openClipReader(binaries, rendered.file, rendered.video, { layout: { format }, ...limits });
  const { clock, held } = source.track;
  const theirs = openFrameSource(binaries, source.file, source.video, indices, {
    ...{ clock, held, format },
    ...limits,
  });
  const { width, height } = ours;
  const next = async (reader: typeof theirs): Promise<Picture> => {
    const data = new Uint8Array(reader.frameBytes);
    if (!(await reader.readInto(data))) throw new Error('a video has fewer frames than its timeline');
    return { width, height, data };
  };
  const closed = (version: Version, frame: number): boolean =>
    (version.mouth[frame]?.opening ?? Infinity) <= closedUpTo;
  const still = ({ mouth }: Version, frame: number): boolean => {
    const { from = NaN, to = NaN } = mouth[frame] ?? {};
    const reach = Math.round(STILL_SECONDS / (to - from));
    const near = Array.from({ length: 2 * reach + 1 }, (_, i) => mouth[frame - reach + i]?.opening ?? NaN);
    return Math.max(...near) - Math.min(...near) <= STILL;
  };
  const goesOn = (frame: number): boolean =>
    Math.abs((indices[frame + 1] ?? NaN) - (indices[frame - 1] ?? NaN)) === 2;

  /** Rendered over source, by frame. */
  const details = new Array<number | null>(indices.length).fill(null);
  const unevenness: { rendered: number[]; source: number[] } = { rendered: [], source: [] };
  const flashes: { rendered: number[]; source: number[] } = { rendered: [], source: [] };
  const teeth: { rendered: (number | null)[]; source: (number | null)[] } = { rendered: [], source: [] };
  const textures: { above: number[]; below: number[] } = { above: [], below: [] };
  const contacts = new Array<boolean | null>(indices.length).fill(null);
  const widths = new Array<number | null>(indices.length).fill(null);
  const recent: { rendered: Picture; source: Picture }[] = [];
  try {
    for (const [frame, index] of indices.entries()) {
      const pair = { rendered: await next(ours), source: await next(theirs) };
      recent.push(pair);
      if (recent.length > 3) recent.shift();
      if (rendered.mouth[frame] == null || source.mouth[frame] == null) continue;
      const [ourMarks, theirMarks] = [landmarksAt(rendered.track, frame), landmarksAt(source.track, index)];
      const box = mouthBox(lipsOf(source.track, index), pair.source);
      details[frame] = detail(pair.rendered, box) / detail(pair.source, box);
      const face = sampleFace(pair.rendered, ourMarks);
      contacts[frame] = lipsTouch(face);
      widths[frame] = lipWidth(face);
      const before = recent.at(-2);
      if (before && rendered.mouth[frame - 1] != null && source.mouth[frame - 1] != null) {
        const was = indices[frame - 1] ?? NaN;
        teeth.rendered.push(change(rendered.track, [before.rendered, frame - 1], [pair.rendered, frame]));
        if (Math.abs(index - was) === 1)
          teeth.source.push(change(source.track, [before.source, was], [pair.source, index]));
      }
      const [ourSkin, theirSkin] = [
        skinAroundLips(ourMarks, pair.rendered),
        skinAroundLips(theirMarks, pair.source),
      ];
      for (const side of ['above', 'below'] as const)
        if (ourSkin[side] && theirSkin[side])
          textures[side].push(detail(pair.rendered, ourSkin[side]) / detail(pair.source, theirSkin[side]));
      if (closed(rendered, frame))
        unevenness.rendered.push(lipUnevenness(pair.rendered, lipsOf(rendered.track, frame)));
      if (closed(source, frame))
        unevenness.source.push(lipUnevenness(pair.source, lipsOf(source.track, index)));
      if (
        recent.length === 3 &&
        goesOn(frame - 1) &&
        still(rendered, frame - 1) &&
        still(source, frame - 1)
      ) {
        flashes.rendered.push(
          flash(
            recent.map((pictures) => pictures.rendered),
            box,
          ),
        );
        flashes.source.push(
          flash(
            recent.map((pictures) => pictures.source),
            box,
          ),
        );
      }
    }
  } finally {
    await Promise.all([ours.close(), theirs.close()]);
  }
  const ratio = (values: { rendered: number[]; source: number[] }): number | null =>
    values.rendered.length === 0 || values.source.length === 0
      ? null
      : mean(values.rendered) / mean(values.source);
  const middling = (values: number[]): number | null => (values.length === 0 ? null : median(values));
  const figures = {
    sharpness: median(found(details)),
    alternation: alternation(details),
    residue: ratio(unevenness),
    flicker: ratio(flashes),
    teeth_change: ratio({ rendered: found(teeth.rendered), source: found(teeth.source) }),
    texture_above: middling(textures.above),
    texture_below: middling(textures.below),
  };
  return { figures, byColor: { contacts, widths } };
}

const found = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);

type Shown = readonly [picture: Picture, frame: number];

const change = (track: FaceTrack, before: Shown, now: Shown): number | null =>
  teethChange(sampleShown(track, before), sampleShown(track, now));

const sampleShown = (track: FaceTrack, [picture, frame]: Shown): FaceSamples =>
  sampleFace(picture, landmarksAt(track, frame));
