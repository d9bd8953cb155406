import { type IngestedMedia } from '@lipsync/db';
import { parseMediaType } from '@lipsync/domain';
import { probe, type ProbeResult } from '@lipsync/media';
import { fetchFromUrl } from './fetch-from-url';
import { type FetchedMedia, type IngestContext, type IngestTools } from './ingest-context';
import { takeUpload } from './take-upload';

/**
 * Downloads the bytes of an asset, decides whether they are usable, measures them and stores them under a key that
 * nothing can change. Throws IngestFailure, MediaError, MediaProcessError, StorageError, or the signal's reason.
 */
export async function ingest(tools: IngestTools, context: IngestContext): Promise<IngestedMedia> {
  const { work, objectKey, signal, report, span } = context;
  const fetched = await span.during('fetch', () => fetchMedia(tools, context));
  signal.throwIfAborted();
  report('probing', 100);
  const probed = await span.during('probe', () =>
    probe(tools.binaries, fetched.path, {
      mediaType: parseMediaType(work.asset.mediaType),
      deadlineMs: tools.probeTimeoutMs,
      signal,
    }),
  );
  const { path, sha256, sizeBytes, contentType } = fetched;
  if (!fetched.stored) {
    await span.during('store', () => tools.storage.put(objectKey, { file: path }, { contentType, signal }));
  }
  return { objectKey, sha256, sizeBytes, contentType, ...measures(probed) };
}

async function fetchMedia(tools: IngestTools, context: IngestContext): Promise<FetchedMedia> {
  const { asset, upload } = context.work;
  // While the store is unavailable, nothing is downloaded: the origin must not be made to send the file again and
  // again, and the job is not charged an attempt.
  await tools.storage.ping({ signal: context.signal });
  if (asset.sourceUrl !== null) return fetchFromUrl(tools, context, asset.sourceUrl);
  if (upload === null) throw new Error('the asset has neither an address nor an upload');
  return takeUpload(tools, context, upload);
}

/** Rounds frame rates to a thousandth: 29.97 rather than the result of a division. */
function measures({
  video,
  audio,
}: ProbeResult): Pick<IngestedMedia, 'codec' | 'durationSeconds'> & Partial<IngestedMedia> {
  if (video !== undefined) {
    const { codec, durationSeconds, width, height, frames } = video;
    return { codec, durationSeconds, width, height, frames, fps: Math.round(video.fps * 1000) / 1000 };
  }
  if (audio === undefined) throw new Error('the probe measured nothing');
  return { codec: audio.codec, durationSeconds: audio.durationSeconds };
}
