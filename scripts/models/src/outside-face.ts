import { type Timeline } from '@lipsync/domain';
import { faceBox, type FaceTrack, highsyncFaces, landmarksAt } from '@lipsync/engines';
import {
  type Binaries,
  type ClipFrames,
  frameColor,
  openClipReader,
  openEncoder,
  openFrameSource,
  type ProbedAudio,
  type VideoStream,
} from '@lipsync/media';
import { type AnalyzedVideo, DEADLINE_MS } from './workplace';

export interface OutsideFace {
  psnr_db: number;
  largest_difference: number;
}

/** Generated pixels stay inside the crop; encoders spread a change over whole macroblocks and their neighbors. */
const BOX_MARGIN_PIXELS = 32;

/**
 * Compares the luma of two videos of equal size, frame by frame, outside the face of the source.
 * @param boxes the area to exclude from each frame, null where the source shows no face; their number ends the
 * comparison
 */
export async function compareOutsideFace(
  binaries: Binaries,
  { file: renderedFile, video }: AnalyzedVideo,
  plainFile: string,
  boxes: readonly (Box | null)[],
): Promise<OutsideFace> {
  const open = (file: string) =>
    openClipReader(binaries, file, video, { layout: { format: 'yuv420p' }, deadlineMs: DEADLINE_MS });
  const rendered = open(renderedFile);
  const plain = open(plainFile);
  const difference = createPictureDifference(rendered);
  const [a, b] = [new Uint8Array(rendered.frameBytes), new Uint8Array(plain.frameBytes)];
  try {
    for (const box of boxes) {
      const both = await Promise.all([rendered.readInto(a), plain.readInto(b)]);
      if (!both.every(Boolean)) throw new Error('the rendered video has fewer frames than its timeline');
      difference.add(a, b, box);
    }
  } finally {
    await Promise.all([rendered.close(), plain.close()]);
  }
  const { psnrDb, largestDifference } = difference.result();
  return { psnr_db: psnrDb, largest_difference: largestDifference };
}

/** MuseTalk's own; LatentSync changes less than MuseTalk's crop. */
const PLACEMENT = { shift: 0, margin: 10 };

/**
 * For each source frame, all that any engine may change there, with a margin: the crops of MuseTalk and HighSync, which
 * is as high as the shot's highest face. Null where there is no face.
 */
export function paddedFaceBoxes(track: FaceTrack): (frame: number) => Box | null {
  const { shots, crops } = highsyncFaces(track);
  return (frame) => {
    if (track.found[frame] !== 1) return null;
    const box = faceBox(landmarksAt(track, frame), track, PLACEMENT);
    if (box === null) return null;
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = crops.subarray(frame * 4, frame * 4 + 4);
    const crop = (shots[frame] ?? -1) >= 0 ? { x1, y1, x2, y2 } : box;
    return {
      x1: Math.min(box.x1, crop.x1) - BOX_MARGIN_PIXELS,
      y1: Math.min(box.y1, crop.y1) - BOX_MARGIN_PIXELS,
      x2: Math.max(box.x2, crop.x2) + BOX_MARGIN_PIXELS,
      y2: Math.max(box.y2, crop.y2) + BOX_MARGIN_PIXELS,
    };
  };
}

/** Pixel rectangle; the right and bottom edges are exclusive. */
export interface Box {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

/** Sums the squared luma difference of picture pairs, outside a box that may differ from pair to pair. */
export function createPictureDifference({ width, height }: { width: number; height: number }) {
  let squared = 0;
  let pixels = 0;
  let largest = 0;
  return {
    /**
     * @param a, b planar pictures whose first width × height bytes are luma; @param except area to exclude, null for
     * none
     */
    add(a: Uint8Array, b: Uint8Array, except: Box | null): void {
      for (let y = 0; y < height; y++) {
        const rowHasBox = except !== null && y >= except.y1 && y < except.y2;
        for (let x = 0; x < width; x++) {
          if (rowHasBox && x >= except.x1 && x < except.x2) continue;
          const difference = (a[y * width + x] ?? 0) - (b[y * width + x] ?? 0);
          squared += difference * difference;
          pixels++;
          largest = Math.max(largest, Math.abs(difference));
        }
      }
    },
    /** Peak signal-to-noise ratio in dB over all pairs (infinite when equal), and the largest single difference. */
    result: () => ({ psnrDb: psnr(squared, pixels), largestDifference: largest }),
  };
}

function psnr(squared: number, pixels: number): number {
  return squared === 0 ? Infinity : 10 * Math.log10((255 * 255 * pixels) / squared);
}

interface TranscodeRequest {
  videoFile: string;
  video: VideoStream;
  audioFile: string;
  audio: ProbedAudio;
  timeline: Timeline;
  /** The source's frames. */
  frames: ClipFrames;
  outFile: string;
}

/** The same frames through the same encoder without modification: the reference for a render. */
export async function plainTranscode(
  binaries: Binaries,
  request: TranscodeRequest,
  deadlineMs: number,
): Promise<void> {
  const { sources, clock, sound } = request.timeline;
  const source = openFrameSource(binaries, request.videoFile, request.video, sources, {
    ...request.frames,
    deadlineMs,
  });
  const encoder = openEncoder(
    binaries,
    {
      outputPath: request.outFile,
      width: source.width,
      height: source.height,
      depth: 8,
      clock,
      color: frameColor(request.video),
      audio: { path: request.audioFile, stream: request.audio, ...sound },
    },
    { deadlineMs },
  );
  try {
    const frame = new Uint8Array(source.frameBytes);
    while (await source.readInto(frame)) await encoder.write(frame);
    await encoder.finish();
  } finally {
    await Promise.all([source.close(), encoder.abort()]);
  }
}
