import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import type { ErrorCode } from '@lipsync/contract';
import {
  type HostileMedia,
  type HttpsReceiver,
  listenOnLoopback,
  makeHostileMedia,
  type ReceiverReply,
  startHttpsReceiver,
} from '@lipsync/testkit';

export const MEDIA_HOST = 'media.example.test';

/** What is wrong with it, its path on the origin, the media type to request it as, and the expected error code. */
type BadMedia = readonly [reason: string, path: string, mediaType: 'video' | 'audio', code: ErrorCode];

/** One for each way to fail; `HOSTILE_MEDIA` has more of those that the decoder must refuse. */
export const BAD_FILES: readonly BadMedia[] = [
  ['a video of 301 s', '/tooLong.mp4', 'video', 'media_too_long'],
  ['257 MiB', '/huge.mp4', 'video', 'media_too_large'],
  ['257 MiB, announced', '/huge-announced.mp4', 'video', 'media_too_large'],
  ['text named .mp4', '/text.mp4', 'video', 'media_unsupported'],
  ['an HLS playlist that names an address inside', '/hlsHttp.mp4', 'video', 'media_unsupported'],
  ['a concat playlist that names an address inside', '/ffconcatHttp.mp4', 'video', 'media_unsupported'],
  ['nothing', '/empty.mp4', 'video', 'media_corrupt'],
  ['a video cut off in its pictures', '/truncatedTail.mp4', 'video', 'media_corrupt'],
  ['audio without a stream of it', '/videoOnly.mp4', 'audio', 'media_type_mismatch'],
  ['a log-in page', '/login', 'video', 'media_not_accessible'],
  ['nothing there', '/missing.mp4', 'video', 'media_not_accessible'],
];

/** Locations that a redirect must not lead to. */
const LOCATIONS: Readonly<Record<string, string>> = {
  'a loopback address': 'https://127.0.0.1/video.mp4',
  'a private address': 'https://10.0.0.1/video.mp4',
  'the metadata service': 'https://169.254.169.254/latest/meta-data',
  'a mapped address': 'https://[::ffff:127.0.0.1]/video.mp4',
  'a name of this machine': 'https://localhost/video.mp4',
  'plain http': `http://${MEDIA_HOST}/secret.mp4`,
  'another port': `https://${MEDIA_HOST}:8443/secret.mp4`,
  'user information': `https://user:password@${MEDIA_HOST}/secret.mp4`,
  'a file': 'file:///etc/passwd',
};

const REDIRECT = '/redirect/';
/** The origin's path that redirects there. */
export const redirectTo = (location: string): string => `${REDIRECT}${encodeURIComponent(location)}`;

export const BAD_REDIRECTS: readonly BadMedia[] = Object.entries(LOCATIONS).map(([target, location]) => [
  `a redirect to ${target}`,
  redirectTo(location),
  'video',
  'media_url_not_allowed',
]);

export interface BadMediaOrigin {
  receiver: HttpsReceiver;
  /** Makes the files, with ffmpeg or byte by byte, and serves them from then on. */
  serveFiles: () => Promise<HostileMedia>;
  /** Number of requests to the address that some playlists name. */
  canaryRequests: () => number;
  close: () => Promise<void>;
}

/** An HTTPS origin that serves all of the above, and further replies by their path. */
export async function startBadMediaOrigin(
  replies: Readonly<Record<string, ReceiverReply>> = {},
): Promise<BadMediaOrigin> {
  let canaryRequests = 0;
  const canary = createServer((_request, response) => {
    canaryRequests++;
    response.end();
  });
  const port = await listenOnLoopback(canary);
  let files: HostileMedia | undefined;
  const receiver = await startHttpsReceiver({
    hostnames: [MEDIA_HOST],
    script: ({ path }) => replies[path] ?? replyTo(path, files),
  });
  return {
    receiver,
    serveFiles: async () => {
      files ??= await makeHostileMedia(`http://127.0.0.1:${port}/canary.mp4`);
      return files;
    },
    canaryRequests: () => canaryRequests,
    close: async () => {
      await receiver.close();
      await new Promise((resolve) => canary.close(resolve));
      if (files !== undefined) await rm(files.folder, { recursive: true, force: true });
    },
  };
}

const MEBIBYTE = 1024 * 1024;

function replyTo(path: string, files: HostileMedia | undefined): ReceiverReply {
  const block = Buffer.alloc(MEBIBYTE);
  const huge = (): Readable => Readable.from(Array.from({ length: 257 }, () => block));
  if (path === '/huge.mp4') return { status: 200, body: huge };
  if (path === '/huge-announced.mp4')
    return { status: 200, headers: { 'content-length': String(257 * MEBIBYTE) }, body: huge };
  if (path.startsWith(REDIRECT))
    return { status: 302, headers: { location: decodeURIComponent(path.slice(REDIRECT.length)) } };
  if (path === '/login') return { status: 200, headers: { 'content-type': 'text/html' }, body: 'Log in' };
  const file = Object.entries<string>({ ...files }).find(([name]) => path.startsWith(`/${name}.`))?.[1];
  return file !== undefined ? { status: 200, body: () => createReadStream(file) } : { status: 404 };
}
