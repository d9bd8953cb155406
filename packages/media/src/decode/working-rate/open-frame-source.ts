import { openFrameSource as openClipFrames } from '../frame-source';
import { type FrameReader } from '../picture-reader';
import { openFrameSource as openWorkingFrames } from './frame-source';

type Arguments = Parameters<typeof openClipFrames>;

/** Frames of a clip's clock, or of the working rate where there is no clock yet. */
export function openFrameSource(
  binaries: Arguments[0],
  file: Arguments[1],
  video: Arguments[2],
  indices: Arguments[3],
  options: Arguments[4] | Parameters<typeof openWorkingFrames>[4],
): FrameReader {
  return 'clock' in options
    ? openClipFrames(binaries, file, video, indices, options)
    : openWorkingFrames(binaries, file, video, indices, options);
}
