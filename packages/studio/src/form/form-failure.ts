import { ApiError } from '@lipsync/client';
import { type Failure, failureOf } from '../errors/failure';
import { type FormPart } from './choice';

/** An error where it belongs: at a part of the form, or at the button that was pressed. */
export interface FormFailure {
  readonly failure: Failure;
  readonly part: FormPart | 'render';
}

/** @returns null if the user has ended it */
export function formFailureOf(pressed: 'render' | 'prepare', error: unknown): FormFailure | null {
  const failure = failureOf(error);
  return failure && { failure, part: pressed === 'prepare' ? 'video' : partOf(error) };
}

/** The service says where in the request the reason is: “/video/url must name a public host.” */
function partOf(error: unknown): FormFailure['part'] {
  if (!(error instanceof ApiError)) return 'render';
  if (error.code === 'engine_unavailable') return 'engines';
  const place = /^\/(video|audio|engines)\b/.exec(error.message)?.[1];
  if (place === 'audio') return 'voice';
  return place === 'video' || place === 'engines' ? place : 'render';
}
