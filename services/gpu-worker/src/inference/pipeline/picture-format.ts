import { type PictureFormat } from '@lipsync/kernels';
import { frameColor, frameSize, type VideoStream } from '@lipsync/media';

/** ffmpeg's names of the standard-definition matrices; every other named matrix is close to BT.709. */
const BT601_NAMES = new Set(['smpte170m', 'bt470bg', 'fcc']);
/** Players take an untagged picture of this height or more for high definition, that is BT.709. */
const HIGH_DEFINITION_HEIGHT = 720;

/** How the frames that a reader yields for this video are to be understood by the pixel kernels. */
export function pictureFormat(video: VideoStream): PictureFormat {
  const { width, height } = frameSize(video);
  const { matrix, range } = frameColor(video);
  const standard = matrix === undefined ? height < HIGH_DEFINITION_HEIGHT : BT601_NAMES.has(matrix);
  return { width, height, matrix: standard ? 'bt601' : 'bt709', range: range === 'pc' ? 'full' : 'limited' };
}
