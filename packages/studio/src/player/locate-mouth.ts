import { type Clock, framesOf, middleOf } from '@lipsync/domain/clock';
import { type PlayerClip } from './clip-view';
import { findMouth, type Picture, type Region } from './find-mouth';
import { sourcePosition } from './source-clock';

/** Wide enough for a mouth to be some pixels. */
const WIDTH = 192;
const MOMENTS = [0.15, 0.4, 0.6, 0.85];

/**
 * Where the engines have drawn, found by comparing an output with the source, or with another output: null without two
 * clips, or if they do not differ.
 */
export async function locateMouth(clips: readonly PlayerClip[], clock: Clock): Promise<Region | null> {
  const output = clips.findLast(({ timeline }) => timeline === null);
  const other = clips.find((clip) => clip !== output);
  if (output === undefined || other === undefined) return null;
  // Copies: the videos on the page stay where they are.
  const [a, b] = await Promise.all([load(output.url), load(other.url)]);
  const size = { width: WIDTH, height: Math.round((WIDTH * a.videoHeight) / a.videoWidth) };
  const pairs: [Picture, Picture][] = [];
  for (const moment of MOMENTS) {
    const frame = Math.floor(moment * framesOf(clock));
    const beside =
      other.timeline === null
        ? middleOf(clock, frame)
        : middleOf(other.timeline.source, sourcePosition(other.timeline, frame).frame);
    pairs.push([await pictureAt(a, middleOf(clock, frame), size), await pictureAt(b, beside, size)]);
  }
  return findMouth(pairs);
}

async function load(url: string): Promise<HTMLVideoElement> {
  const video = document.createElement('video');
  video.muted = true;
  video.preload = 'auto';
  video.src = url;
  await happened(video, 'loadeddata');
  return video;
}

async function pictureAt(
  video: HTMLVideoElement,
  seconds: number,
  { width, height }: { width: number; height: number },
): Promise<Picture> {
  const seeked = happened(video, 'seeked');
  video.currentTime = seconds;
  await seeked;
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width, height });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('this browser draws no pictures');
  context.drawImage(video, 0, 0, width, height);
  return context.getImageData(0, 0, width, height);
}

function happened(target: HTMLVideoElement, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    target.addEventListener(event, () => resolve(), { once: true });
    target.addEventListener('error', () => reject(new Error('a video cannot be played')), { once: true });
  });
}
