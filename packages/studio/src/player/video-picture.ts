import { type Picture } from './find-mouth';

/** A busy computer takes seconds; a browser that cannot read a file says nothing at all. */
const PATIENCE_MS = 10_000;

/** A video that is on no page, with its first picture. @throws if it cannot be played */
export async function openVideo(url: string): Promise<HTMLVideoElement> {
  const video = document.createElement('video');
  video.muted = true;
  video.preload = 'auto';
  video.src = url;
  try {
    await happens(video, 'loadeddata');
  } catch (error) {
    closeVideo(video);
    throw error;
  }
  return video;
}

/** Without this, a browser keeps the decoder until the next garbage collection. */
export function closeVideo(video: HTMLVideoElement): void {
  video.removeAttribute('src');
  video.load();
}

export async function seek(video: HTMLVideoElement, seconds: number): Promise<void> {
  const seeked = happens(video, 'seeked');
  video.currentTime = seconds;
  await seeked;
}

/** What the video shows now, in this size. */
export function pictureOf(video: HTMLVideoElement, width: number, height: number): Picture {
  const context = canvasContext(width, height);
  context.drawImage(video, 0, 0, width, height);
  return context.getImageData(0, 0, width, height);
}

export function canvasContext(width: number, height: number): CanvasRenderingContext2D {
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width, height });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('this browser draws no pictures');
  return context;
}

async function happens(video: HTMLVideoElement, event: string): Promise<void> {
  const listening = new AbortController();
  const { signal } = listening;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (): void => reject(new Error('this video cannot be played'));
      timer = setTimeout(fail, PATIENCE_MS);
      video.addEventListener(event, () => resolve(), { signal });
      video.addEventListener('error', fail, { signal });
    });
  } finally {
    clearTimeout(timer);
    listening.abort();
  }
}
