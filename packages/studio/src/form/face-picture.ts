import { findMouth, type Picture, type Region } from '../player/find-mouth';
import { canvasContext, pictureOf, seek } from '../player/video-picture';

/** A thumbnail, in pixels: 14 : 9. */
const SIZE = { width: 336, height: 216 };
/** Enough to see what moves. */
const LOOK_WIDTH = 128;
/** Shares of the length at which to look, and how long to wait for something to move there. */
const MOMENTS = [0.15, 0.4, 0.65];
const WAIT_SECONDS = 0.16;
/** The smallest share of the picture's width that is shown: closer, a small video has no pixels left. */
const CLOSEST = 0.4;

/** The part of a picture, in its own pixels. */
interface Part {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * The part with the face, in the shape of thumbnails. A head is at the top of what moves; where nothing tells, it is
 * above the middle.
 */
export function partWithFace(moving: Region | null, width: number, height: number): Part {
  const whole = Math.min(width, (height * SIZE.width) / SIZE.height);
  // A head is higher than it is wide, the part wider than it is high. What moves everywhere says nothing.
  const told = moving !== null && moving.width < 0.9 ? moving : null;
  const partWidth = told === null ? whole : Math.min(whole, Math.max(CLOSEST, 2.3 * told.width) * width);
  const partHeight = (partWidth * SIZE.height) / SIZE.width;
  const left = told === null ? (width - partWidth) / 2 : (told.x + told.width / 2) * width - partWidth / 2;
  const top = told === null ? 0.22 * (height - partHeight) : told.y * height - 0.15 * partHeight;
  return {
    x: Math.min(Math.max(0, left), width - partWidth),
    y: Math.min(Math.max(0, top), height - partHeight),
    width: partWidth,
    height: partHeight,
  };
}

/** What moves in a video that shows its pictures; null if nothing does, or all. */
export async function findMoving(video: HTMLVideoElement): Promise<Region | null> {
  const height = Math.round((LOOK_WIDTH * video.videoHeight) / video.videoWidth);
  const pairs: [Picture, Picture][] = [];
  for (const moment of MOMENTS) {
    await seek(video, moment * video.duration);
    const before = pictureOf(video, LOOK_WIDTH, height);
    await seek(video, moment * video.duration + WAIT_SECONDS);
    pairs.push([before, pictureOf(video, LOOK_WIDTH, height)]);
  }
  return findMouth(pairs);
}

/** The thumbnail of what the video shows now, as a data URL. */
export function thumbnail(video: HTMLVideoElement, moving: Region | null): string {
  const { x, y, width, height } = partWithFace(moving, video.videoWidth, video.videoHeight);
  const context = canvasContext(SIZE.width, SIZE.height);
  context.drawImage(video, x, y, width, height, 0, 0, SIZE.width, SIZE.height);
  return context.canvas.toDataURL('image/jpeg', 0.75);
}
