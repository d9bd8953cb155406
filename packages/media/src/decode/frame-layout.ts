import {
  exchangesSides,
  frameSize,
  isFullRange,
  isRgb,
  transferOf,
  type VideoStream,
} from '../probe/stream-info';
import { likeSdr, onBlack, scaling, toneMapped } from './picture-filters';

/** Planar 4:2:0 with samples of 8 bits, or of 10 bits in little-endian words of 16. */
export type FrameFormat = 'yuv420p' | 'yuv420p10le';

/** What a reader yields: planes at the source's size, or packed RGB of 8 bits at a chosen size for analysis. */
export type FrameLayout =
  | { readonly format: FrameFormat }
  | { readonly format: 'rgb24'; readonly width: number; readonly height: number };

/** The format that holds a video's samples without loss. HDR needs 10 bits even where the source has 8. */
export function frameFormat(video: Pick<VideoStream, 'depth' | 'color'>): FrameFormat {
  return video.depth === 10 || transferOf(video) !== 'sdr' ? 'yuv420p10le' : 'yuv420p';
}

/** Size and byte count of one frame in a layout. */
export function frameGeometry(
  video: Pick<VideoStream, 'width' | 'height'>,
  layout: FrameLayout,
): { width: number; height: number; frameBytes: number } {
  if (layout.format === 'rgb24') {
    return { width: layout.width, height: layout.height, frameBytes: layout.width * layout.height * 3 };
  }
  const { width, height } = frameSize(video);
  const samples = (width * height * 3) / 2;
  return { width, height, frameBytes: layout.format === 'yuv420p' ? samples : samples * 2 };
}

/**
 * Pixel part of the chain. It states size and range explicitly: neither a stream whose size changes midway nor another
 * version's defaults may change the bytes of a frame. The scaler comes first because it alone accepts pictures of
 * another size and format than it was set up for; the scaled picture is then turned upright.
 */
export function layoutFilters(video: VideoStream, layout: FrameLayout): string[] {
  const upright = video.upright ?? [];
  const composed = onBlack(video, storedSize(video));
  if (layout.format === 'rgb24') {
    // Scaling to RGB in one step costs twice as much as scaling first, and differs by less than a level.
    const scaled = `scale=${beforeTurning(layout, upright)}:flags=bilinear`;
    const rgb = ['format=yuv420p', 'scale=flags=bilinear', 'format=rgb24', ...likeSdr(video)];
    return [...composed, scaled, ...rgb, ...upright];
  }
  const { width, height } = frameSize(video);
  const range = isRgb(video)
    ? ':out_color_matrix=bt709:out_range=tv'
    : isFullRange(video)
      ? ':out_range=pc'
      : '';
  const isMapped = layout.format === 'yuv420p' && transferOf(video) !== 'sdr';
  return [
    ...composed,
    `scale=${storedSize(video)}:flags=${scaling(video)}${range}`,
    `format=${isMapped ? 'yuv420p10le' : layout.format}`,
    ...upright,
    ...(video.width !== width || video.height !== height ? [`crop=${width}:${height}:0:0`] : []),
    ...(isMapped ? toneMapped(video) : []),
  ];
}

/** The size of pictures before they are turned upright, for the scaler. */
export function storedSize(video: Pick<VideoStream, 'width' | 'height' | 'upright'>): string {
  return beforeTurning(video, video.upright ?? []);
}

function beforeTurning(
  { width, height }: { width: number; height: number },
  upright: readonly string[],
): string {
  return exchangesSides(upright) ? `${height}:${width}` : `${width}:${height}`;
}
