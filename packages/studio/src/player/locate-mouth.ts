import { type Clock, framesOf, middleOf } from '@lipsync/domain/clock';
import { type PlayerClip } from './clip-view';
import { findMouth, type Picture, type Region } from './find-mouth';
import { sourcePosition, type SourceTimeline } from './source-clock';
import { closeVideo, openVideo, pictureOf, seek } from './video-picture';

/** Wide enough for a mouth to be some pixels. */
const WIDTH = 192;
const MOMENTS = [0.15, 0.4, 0.6, 0.85];

/**
 * Where the engines have drawn, found by comparing an output with the source, or with another output: null without two
 * clips, or if they do not differ.
 * @throws if a clip cannot be played, or takes too long
 */
export async function locateMouth(clips: readonly PlayerClip[], clock: Clock): Promise<Region | null> {
  const output = clips.findLast(({ timeline }) => timeline === null);
  const other = clips.find((clip) => clip !== output);
  if (output === undefined || other === undefined) return null;
  // Copies: the videos on the page stay where they are.
  const copies = await Promise.allSettled([openVideo(output.url), openVideo(other.url)]);
  const opened = copies.flatMap((copy) => (copy.status === 'fulfilled' ? [copy.value] : []));
  try {
    const [a, b] = opened;
    if (a === undefined || b === undefined) throw new Error('a video cannot be played');
    return findMouth(await picturesOfBoth(a, b, other.timeline, clock));
  } finally {
    opened.forEach(closeVideo);
  }
}

async function picturesOfBoth(
  output: HTMLVideoElement,
  other: HTMLVideoElement,
  timeline: SourceTimeline | null,
  clock: Clock,
): Promise<[Picture, Picture][]> {
  const height = Math.round((WIDTH * output.videoHeight) / output.videoWidth);
  const pairs: [Picture, Picture][] = [];
  for (const moment of MOMENTS) {
    const frame = Math.floor(moment * framesOf(clock));
    await seek(output, middleOf(clock, frame));
    await seek(
      other,
      timeline === null
        ? middleOf(clock, frame)
        : middleOf(timeline.source, sourcePosition(timeline, frame).frame),
    );
    pairs.push([pictureOf(output, WIDTH, height), pictureOf(other, WIDTH, height)]);
  }
  return pairs;
}
