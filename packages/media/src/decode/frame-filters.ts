import { WORKING_FPS } from '@lipsync/domain';
import { exchangesSides } from '../probe/display-matrix';
import { frameSize, isFullRange, isRgb, type VideoStream } from '../probe/stream-info';

/** What a reader yields: planar 4:2:0 at the source's size, or packed RGB at a chosen size for analysis. */
export type FrameLayout =
  | { readonly format: 'yuv420p' }
  | { readonly format: 'rgb24'; readonly width: number; readonly height: number };

/** Size and byte count of one frame in a layout. */
export function frameGeometry(
  video: Pick<VideoStream, 'width' | 'height'>,
  layout: FrameLayout,
): { width: number; height: number; frameBytes: number } {
  if (layout.format === 'rgb24') {
    return { width: layout.width, height: layout.height, frameBytes: layout.width * layout.height * 3 };
  }
  const { width, height } = frameSize(video);
  return { width, height, frameBytes: (width * height * 3) / 2 };
}

/**
 * The one place where source time becomes working frames: 25 per second from the first picture on, each the newest
 * picture at its (rounded) instant. `firstPts`, in the stream's time base, stands in for "the first picture" when a
 * decoder starts in the middle of the file. `keepLast` rounds the end up instead of to the nearest frame.
 */
export function workingRateFilter(options: { firstPts?: number | undefined; keepLast: boolean }): string {
  const end = options.keepLast ? ':eof_action=pass' : '';
  return `setpts=PTS-${options.firstPts ?? 'STARTPTS'},fps=${WORKING_FPS}${end}`;
}

/**
 * Pixel part of the chain. It states size and range explicitly: neither a stream whose size changes midway nor another
 * version's defaults may change the bytes of a frame. The scaler comes first because it alone accepts pictures of
 * another size and format than it was set up for; the scaled picture is then turned upright.
 */
export function layoutFilter(video: VideoStream, layout: FrameLayout): string {
  const upright = video.upright ?? [];
  const { width, height } = frameGeometry(video, layout);
  if (layout.format === 'rgb24') {
    return [`scale=${stored(layout, upright)}:flags=bilinear`, 'format=rgb24', ...upright].join(',');
  }
  const range = isRgb(video)
    ? ':out_color_matrix=bt709:out_range=tv'
    : isFullRange(video)
      ? ':out_range=pc'
      : '';
  const steps = [`scale=${stored(video, upright)}:flags=bicubic${range}`, 'format=yuv420p', ...upright];
  if (video.width !== width || video.height !== height) steps.push(`crop=${width}:${height}:0:0`);
  return steps.join(',');
}

/** The size before these filters turn the picture upright, for the scaler. */
function stored({ width, height }: { width: number; height: number }, upright: readonly string[]): string {
  return exchangesSides(upright) ? `${height}:${width}` : `${width}:${height}`;
}
