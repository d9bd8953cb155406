import { type Binaries } from '../ffmpeg/binaries';
import { isMediaError } from '../media-error';
import { probe } from '../probe/probe';

/** What the probe says of a file: `accepted`, or the code of the error. Other failures are thrown. */
export async function probeVerdict(
  binaries: Binaries,
  file: string,
  mediaType: 'video' | 'audio',
): Promise<string> {
  try {
    await probe(binaries, file, { mediaType, deadlineMs: 60_000 });
    return 'accepted';
  } catch (error) {
    if (!isMediaError(error)) throw error;
    return error.code;
  }
}
