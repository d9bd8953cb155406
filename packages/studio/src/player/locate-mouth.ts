import { type Clock, framesOf, middleOf } from '@lipsync/domain/clock';
import { type PlayerClip } from './clip-view';
import { findMouth, type Picture, type Region } from './find-mouth';
import { sourcePosition, type SourceTimeline } from './source-clock';

/** Wide enough for a mouth to be some pixels. */
const WIDTH = 192;
const MOMENTS = [0.15, 0.4, 0.6, 0.85];
/** Whoever asked for it is waiting. In milliseconds. */
const PATIENCE_MS = 10_000;

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
  const [a, b] = [document.createElement('video'), document.createElement('video')];
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    await Promise.all([load(a, output.url, signal), load(b, other.url, signal)]);
    return findMouth(await picturesOfBoth(a, b, other.timeline, clock, signal));
  } finally {
    // Without this, a browser keeps their decoders until the next garbage collection.
    for (const copy of [a, b]) {
      copy.removeAttribute('src');
      copy.load();
    }
  }
}

async function picturesOfBoth(
  output: HTMLVideoElement,
  other: HTMLVideoElement,
  timeline: SourceTimeline | null,
  clock: Clock,
  signal: AbortSignal,
): Promise<[Picture, Picture][]> {
  const size = { width: WIDTH, height: Math.round((WIDTH * output.videoHeight) / output.videoWidth) };
  const pairs: [Picture, Picture][] = [];
  for (const moment of MOMENTS) {
    const frame = Math.floor(moment * framesOf(clock));
    const beside =
      timeline === null
        ? middleOf(clock, frame)
        : middleOf(timeline.source, sourcePosition(timeline, frame).frame);
    pairs.push([
      await pictureAt(output, middleOf(clock, frame), size, signal),
      await pictureAt(other, beside, size, signal),
    ]);
  }
  return pairs;
}

async function load(video: HTMLVideoElement, url: string, signal: AbortSignal): Promise<void> {
  video.muted = true;
  video.preload = 'auto';
  video.src = url;
  await happened(video, 'loadeddata', signal);
}

async function pictureAt(
  video: HTMLVideoElement,
  seconds: number,
  { width, height }: { width: number; height: number },
  signal: AbortSignal,
): Promise<Picture> {
  const seeked = happened(video, 'seeked', signal);
  video.currentTime = seconds;
  await seeked;
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width, height });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('this browser draws no pictures');
  context.drawImage(video, 0, 0, width, height);
  return context.getImageData(0, 0, width, height);
}

function happened(target: HTMLVideoElement, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    target.addEventListener(event, () => resolve(), { once: true });
    target.addEventListener('error', () => reject(new Error('a video cannot be played')), { once: true });
    signal.addEventListener('abort', () => reject(new Error('a video takes too long')), { once: true });
  });
}
