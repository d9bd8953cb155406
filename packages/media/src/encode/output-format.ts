import { type FrameFormat, frameFormat } from '../decode/frame-layout';
import { type VideoOutput } from '../ffmpeg/binaries';
import {
  type ColorTags,
  frameColor,
  type HdrMetadata,
  transferOf,
  type VideoStream,
} from '../probe/stream-info';

/** What the frames of a video are, from the decoder to the output. */
export interface OutputFormat {
  readonly depth: 8 | 10;
  /** How the decoder has to deliver them. It maps the tones of HDR that is asked for in 8 bits. */
  readonly layout: { readonly format: FrameFormat };
  /** Their tags, which the output carries. */
  readonly color: ColorTags;
  /** What the output says of its light. */
  readonly hdr: HdrMetadata;
}

const BT709: ColorTags = { range: 'tv', matrix: 'bt709', primaries: 'bt709', transfer: 'bt709' };

/**
 * Decides in what an output comes back: as the source is, in 10 bits if it has more than 8 or is HDR; or always in 8
 * bits, and never as HDR, where all outputs are to be H.264.
 */
export function outputFormat(
  video: Pick<VideoStream, 'depth' | 'color' | 'hdr' | 'pixFmt'>,
  output: VideoOutput,
): OutputFormat {
  const format = output === 'source' ? frameFormat(video) : 'yuv420p';
  const color = frameColor(video);
  if (format === 'yuv420p10le') return { depth: 10, layout: { format }, color, hdr: video.hdr };
  const isHdr = transferOf(video) !== 'sdr';
  return { depth: 8, layout: { format }, color: isHdr ? BT709 : color, hdr: {} };
}
