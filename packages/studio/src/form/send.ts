import {
  ApiError,
  type AssetInput,
  type LipSync,
  type MediaType,
  type PreparationRecord,
  type RenderRecord,
  type UrlInput,
} from '@lipsync/client';
import { type Choice, type RenderChoices } from './choice';
import { contentTypeOf } from './media-limits';

interface SendOptions {
  readonly signal: AbortSignal;
  readonly onUpload: (mediaType: MediaType, sentBytes: number, totalBytes: number) => void;
}

/**
 * Keeps the key of a request whose answer was lost, so that the same request, sent again, is not done twice. A request
 * that reads differently gets another key.
 */
export class Unanswered {
  #request = '';
  #key = '';

  keyed<Request extends object>(request: Request): Request & { idempotency_key: string } {
    const text = JSON.stringify(request);
    if (text !== this.#request) {
      this.#request = text;
      this.#key = crypto.getRandomValues(new Uint32Array(4)).join('-');
    }
    return { ...request, idempotency_key: this.#key };
  }

  /** What is asked for next is another one, even if it reads the same. */
  forget(): void {
    this.#request = '';
  }
}

interface ChosenMedia extends Omit<RenderChoices, 'video' | 'voice'> {
  readonly video: Choice;
  readonly voice: Choice;
}

/**
 * Uploads what was chosen, and creates the render. The signal ends the uploads alone: were the last request cut off,
 * nobody would know whether there is a render.
 * @param onUploaded called before that request
 */
export async function sendRender(
  client: LipSync,
  unanswered: Unanswered,
  { video, voice, engines, syncMode }: ChosenMedia,
  { onUploaded, ...options }: SendOptions & { readonly onUploaded: () => void },
): Promise<RenderRecord> {
  const [videoInput, audioInput] = await Promise.all([
    sendInput(client, 'video', video, options),
    sendInput(client, 'audio', voice, options),
  ]);
  options.signal.throwIfAborted();
  onUploaded();
  const request = {
    video: videoInput,
    audio: audioInput,
    engines,
    sync_mode: syncMode,
    ...(video.kind === 'prepared' && { preparation_id: video.preparation.id }),
  };
  try {
    const record = await client.renders.create(unanswered.keyed(request));
    unanswered.forget();
    return record;
  } catch (error) {
    forgetUploads(error, video, voice);
    throw error;
  }
}

/** Uploads a video, and has it analyzed. */
export async function sendPreparation(
  client: LipSync,
  unanswered: Unanswered,
  video: Choice,
  options: SendOptions,
): Promise<PreparationRecord> {
  const request = { video: await sendInput(client, 'video', video, options) };
  try {
    return await client.preparations.create(unanswered.keyed(request), { signal: options.signal });
  } catch (error) {
    forgetUploads(error, video);
    throw error;
  }
}

/** The assets of files that were uploaded: rendering them again uploads nothing. */
const uploaded = { video: new WeakMap<File, string>(), audio: new WeakMap<File, string>() } as const;

/** A choice as the contract has it. A file is uploaded, unless it was before. */
async function sendInput(
  client: LipSync,
  mediaType: MediaType,
  choice: Choice,
  { signal, onUpload }: SendOptions,
): Promise<AssetInput | UrlInput> {
  if (choice.kind === 'url') return { url: choice.url };
  if (choice.kind === 'prepared') return { asset_id: choice.preparation.videoAssetId };
  const known = uploaded[mediaType].get(choice.file);
  if (known !== undefined) return { asset_id: known };
  const { id } = await client.uploads.create(choice.file, {
    mediaType,
    // Browsers name types that the service does not know, or none.
    contentType: contentTypeOf(mediaType, choice.file) ?? undefined,
    signal,
    onProgress: (sent, total) => onUpload(mediaType, sent, total),
  });
  uploaded[mediaType].set(choice.file, id);
  return { asset_id: id };
}

/** An asset that is gone or of no use is uploaded again at the next try; after any other error it is still there. */
function forgetUploads(error: unknown, ...choices: readonly Choice[]): void {
  if (!(error instanceof ApiError) || !error.code.startsWith('asset_')) return;
  for (const choice of choices)
    if (choice.kind === 'file') for (const assets of Object.values(uploaded)) assets.delete(choice.file);
}
