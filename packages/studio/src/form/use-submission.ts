import { useEffect, useRef, useState } from 'preact/hooks';
import { type Session } from '../session/session';
import {
  type Choice,
  fileOf,
  forgetUpload,
  inputOf,
  nameOf,
  outputSecondsOf,
  rememberUpload,
  type RenderChoices,
} from './choice';
import { type Sending } from './upload-panel';

/** Uploads what was chosen, creates the render, and remembers it. */
export function useSubmission(onCreated: (id: string) => void): {
  sending: Sending | null;
  submit: (session: Session, choices: RenderChoices) => Promise<void>;
} {
  const [sending, setSending] = useState<Sending | null>(null);
  const running = useRef<AbortController | null>(null);
  // What ends after a sign-out must not be remembered.
  useEffect(() => () => running.current?.abort(), []);
  useLeaveWarning(sending !== null);

  const submit = async ({ client, history }: Session, choices: RenderChoices): Promise<void> => {
    const { video, voice, engines, syncMode } = choices;
    if (video === null || voice === null) return;
    const controller = new AbortController();
    running.current = controller;
    setSending({ uploads: {}, cancel: () => controller.abort() });
    try {
      const record = await client.renders.create(
        {
          video: inputOf('video', video),
          audio: inputOf('audio', voice),
          engines,
          sync_mode: syncMode,
          ...(video.kind === 'prepared' && { preparation_id: video.preparation.id }),
        },
        {
          signal: controller.signal,
          onUpload: (mediaType, sent, total) =>
            setSending((now) => now && { ...now, uploads: { ...now.uploads, [mediaType]: { sent, total } } }),
        },
      );
      controller.signal.throwIfAborted();
      rememberUpload(video, record.video_asset_id);
      rememberUpload(voice, record.audio_asset_id);
      const picture = pictureOf(video);
      const outputSeconds = outputSecondsOf(choices);
      const render = {
        id: record.id,
        createdAt: record.created_at,
        expiresAt: record.expires_at,
        engines,
        syncMode,
        videoName: nameOf(video),
        voiceName: nameOf(voice),
        ...(video.kind === 'url' && { videoUrl: video.url }),
        ...(voice.kind === 'url' && { voiceUrl: voice.url }),
        ...(picture !== undefined && { picture }),
        ...(outputSeconds !== null && { outputSeconds }),
      };
      history.addRender(render, fileOf(video));
      onCreated(record.id);
    } catch (error) {
      // An asset that is gone or of no use is uploaded again at the next try.
      forgetUpload(video);
      forgetUpload(voice);
      throw error;
    } finally {
      setSending(null);
    }
  };
  return { sending, submit };
}

export function pictureOf(video: Choice): string | undefined {
  if (video.kind === 'file') return video.picture;
  return video.kind === 'prepared' ? video.preparation.picture : undefined;
}

/** An upload ends with the page: the browser asks before it leaves. */
function useLeaveWarning(active: boolean): void {
  useEffect(() => {
    if (!active) return undefined;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [active]);
}
