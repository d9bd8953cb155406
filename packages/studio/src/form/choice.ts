import { type Engine, type MediaInput, type MediaType, type SyncMode } from '@lipsync/client';
import { type RecentPreparation } from '../history/recent-work';
import { contentTypeOf, durationProblem, fileProblem, urlProblem } from './media-limits';

/** What was chosen as video or voice. */
export type Choice =
  | {
      readonly kind: 'file';
      readonly file: File;
      /** Null until it is known, and where the browser cannot tell. */
      readonly seconds: number | null;
      /** A small picture of a video. */
      readonly picture?: string;
    }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'prepared'; readonly preparation: RecentPreparation; readonly file: File | null };

export interface RenderChoices {
  readonly video: Choice | null;
  readonly voice: Choice | null;
  readonly engines: readonly Engine[];
  readonly syncMode: SyncMode;
}

export const FIRST_CHOICES: RenderChoices = {
  video: null,
  voice: null,
  engines: ['musetalk'],
  syncMode: 'cut_off',
};

/** What is wrong with a choice, in a sentence; null if nothing is. */
export function choiceProblem(mediaType: MediaType, choice: Choice | null): string | null {
  switch (choice?.kind) {
    case undefined:
      return mediaType === 'video' ? 'Choose a video.' : 'Choose or record a voice.';
    case 'file':
      return fileProblem(mediaType, choice.file) ?? durationProblem(choice.seconds ?? 0);
    case 'url':
      return urlProblem(choice.url);
    case 'prepared':
      return null;
  }
}

/** What prevents rendering, by part of the form. */
export function problems({ video, voice, engines }: RenderChoices): {
  video: string | null;
  voice: string | null;
  engines: string | null;
} {
  return {
    video: choiceProblem('video', video),
    voice: choiceProblem('audio', voice),
    engines: engines.length === 0 ? 'Choose at least one engine.' : null,
  };
}

/** The length of what was chosen, where it is known. */
export function secondsOf(choice: Choice | null): number | null {
  if (choice?.kind === 'file') return choice.seconds;
  if (choice?.kind === 'prepared') return choice.preparation.seconds ?? null;
  return null;
}

/** What was chosen as a file, if this browser has it. */
export function fileOf(choice: Choice): File | null {
  return choice.kind === 'url' ? null : choice.file;
}

export function nameOf(choice: Choice): string {
  switch (choice.kind) {
    case 'file':
      return choice.file.name;
    case 'url':
      return new URL(choice.url).pathname.split('/').at(-1) || choice.url;
    case 'prepared':
      return choice.preparation.videoName;
  }
}

/** Assets that files became when they were uploaded: a second render uploads nothing. */
const uploaded = new WeakMap<File, string>();

export function rememberUpload(choice: Choice, assetId: string): void {
  if (choice.kind === 'file') uploaded.set(choice.file, assetId);
}

export function forgetUpload(choice: Choice): void {
  if (choice.kind === 'file') uploaded.delete(choice.file);
}

/** What the client is given. */
export function inputOf(mediaType: MediaType, choice: Choice): MediaInput {
  switch (choice.kind) {
    case 'url':
      return { url: choice.url };
    case 'prepared':
      return { asset_id: choice.preparation.videoAssetId };
    case 'file': {
      const assetId = uploaded.get(choice.file);
      if (assetId !== undefined) return { asset_id: assetId };
      // Browsers name types that the service does not know, or none. Nothing is copied.
      const type = contentTypeOf(mediaType, choice.file) ?? choice.file.type;
      return new File([choice.file], choice.file.name, { type });
    }
  }
}
