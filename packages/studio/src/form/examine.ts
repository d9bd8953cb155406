import { decodeSound, peaks } from '../player/peaks';
import { type WhatItIs, whatItIs } from './what-it-is';

export interface ExaminedVideo {
  /** Null where nothing tells. */
  readonly seconds: number | null;
  /** A small picture, if this browser can show the video. */
  readonly picture?: string;
  /** What it is, if this browser cannot show it. */
  readonly unshown?: WhatItIs;
}

export interface ExaminedVoice {
  readonly seconds: number | null;
  /** The loudness of equal parts, 0 to 1, if this browser can play it. */
  readonly loudness?: Float32Array;
}

const PICTURE_WIDTH = 240;
/** A browser that cannot read a file says nothing at all. */
const PATIENCE_MS = 8000;

/** Length and picture of a video; without a picture, where the browser cannot show it: the service decides. */
export async function examineVideo(file: Blob): Promise<ExaminedVideo> {
  const url = URL.createObjectURL(file);
  const video = document.createElement('video');
  video.muted = true;
  video.preload = 'auto';
  video.src = url;
  try {
    await happens(video, 'loadeddata');
    // Of a codec that it does not know, a browser plays the sound alone.
    if (video.videoWidth === 0) throw new Error('this video has no picture here');
    const seconds = Number.isFinite(video.duration) ? video.duration : null;
    const seeked = happens(video, 'seeked');
    video.currentTime = Math.min(0.2, (seconds ?? 0) / 2);
    await seeked;
    const picture = draw(video);
    return picture === null ? { seconds } : { seconds, picture };
  } catch {
    const unshown = await whatItIs(file);
    return { seconds: unshown.seconds, unshown };
  } finally {
    video.removeAttribute('src');
    URL.revokeObjectURL(url);
  }
}

/** Of the drawing. */
export const BARS = 72;

/** Decoded, because recordings do not say how long they are. */
export async function examineVoice(file: Blob): Promise<ExaminedVoice> {
  try {
    const { seconds, samples } = await decodeSound(file);
    return { seconds, loudness: peaks(samples, BARS) };
  } catch {
    return { seconds: (await whatItIs(file)).seconds };
  }
}

function draw(video: HTMLVideoElement): string | null {
  const canvas = document.createElement('canvas');
  canvas.width = PICTURE_WIDTH;
  canvas.height = Math.round((PICTURE_WIDTH * video.videoHeight) / video.videoWidth);
  const context = canvas.getContext('2d');
  if (context === null) return null;
  context.drawImage(video, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/jpeg', 0.7);
}

function happens(video: HTMLVideoElement, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('this video does not load')), PATIENCE_MS);
    video.addEventListener(
      event,
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
    video.addEventListener('error', () => reject(new Error('this video does not load')), { once: true });
  });
}
