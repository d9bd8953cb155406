import { decodeSound } from '../player/peaks';

export interface Examined {
  readonly seconds: number | null;
  readonly picture?: string;
}

const PICTURE_WIDTH = 240;
/** A browser that cannot read a file says nothing at all. */
const PATIENCE_MS = 8000;

/** Length and picture of a video. Without them, where the browser cannot play it: the service decides. */
export async function examineVideo(file: Blob): Promise<Examined> {
  const url = URL.createObjectURL(file);
  const video = document.createElement('video');
  video.muted = true;
  video.preload = 'auto';
  video.src = url;
  try {
    await happens(video, 'loadeddata');
    const seconds = Number.isFinite(video.duration) ? video.duration : null;
    const seeked = happens(video, 'seeked');
    video.currentTime = Math.min(0.2, (seconds ?? 0) / 2);
    await seeked;
    const picture = draw(video);
    return picture === null ? { seconds } : { seconds, picture };
  } catch {
    return { seconds: null };
  } finally {
    video.removeAttribute('src');
    URL.revokeObjectURL(url);
  }
}

/** Decoded, because recordings do not say how long they are. */
export async function examineVoice(file: Blob): Promise<Examined & { samples?: Float32Array }> {
  try {
    return await decodeSound(file);
  } catch {
    return { seconds: null };
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
