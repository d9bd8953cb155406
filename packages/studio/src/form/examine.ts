import { decodeSound, peaks } from '../player/peaks';
import { closeVideo, openVideo, seek } from '../player/video-picture';
import { findMoving, thumbnail } from './face-picture';
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

/**
 * Length and picture of a video; without a picture, where the browser cannot show it: the service decides. What moves,
 * and so where the face is, is found a little later: `onPicture` gets a better picture then.
 */
export async function examineVideo(
  file: Blob,
  onPicture?: (picture: string) => void,
): Promise<ExaminedVideo> {
  const url = URL.createObjectURL(file);
  let release = (): void => URL.revokeObjectURL(url);
  try {
    const video = await openVideo(url);
    release = () => {
      closeVideo(video);
      URL.revokeObjectURL(url);
    };
    // Where a browser does not know the codec, it plays the sound alone.
    if (video.videoWidth === 0) throw new Error('this video has no picture here');
    const seconds = Number.isFinite(video.duration) ? video.duration : null;
    // Not the first picture: films begin in black.
    const shownAt = Math.min(1, (seconds ?? 0) / 4);
    await seek(video, shownAt);
    const picture = thumbnail(video, null);
    if (onPicture === undefined || seconds === null) release();
    else
      void findMoving(video)
        .then(async (moving) => {
          await seek(video, shownAt);
          onPicture(thumbnail(video, moving));
        })
        // Then the first one stays.
        .catch(() => undefined)
        .finally(release);
    return { seconds, picture };
  } catch {
    release();
    const unshown = await whatItIs(file);
    return { seconds: unshown.seconds, unshown };
  }
}

/** How many the drawing has. */
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
