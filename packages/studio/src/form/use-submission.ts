import { useEffect, useRef, useState } from 'preact/hooks';
import { type Session } from '../session/session';
import { fileOf, nameOf, outputSecondsOf, pictureOf, type RenderChoices } from './choice';
import { sendRender, Unanswered } from './send';
import { type Sending } from './upload-panel';

/** Uploads what was chosen, creates the render, and remembers it. */
export function useSubmission(onCreated: (id: string) => void): {
  sending: Sending | null;
  submit: (session: Session, choices: RenderChoices) => Promise<void>;
} {
  const [sending, setSending] = useState<Sending | null>(null);
  const running = useRef<AbortController | null>(null);
  const { current: unanswered } = useRef(new Unanswered());
  // What ends after a sign-out must not be remembered.
  useEffect(() => () => running.current?.abort(), []);
  useLeaveWarning(sending !== null);

  const submit = async ({ client, history }: Session, choices: RenderChoices): Promise<void> => {
    const { video, voice, engines, syncMode } = choices;
    if (video === null || voice === null) return;
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setSending({ uploads: {}, cancel: () => controller.abort() });
    try {
      const record = await sendRender(
        client,
        unanswered,
        { ...choices, video, voice },
        {
          signal,
          onUpload: (mediaType, sent, total) =>
            setSending((now) => now && { ...now, uploads: { ...now.uploads, [mediaType]: { sent, total } } }),
          onUploaded: () => setSending((now) => now && { ...now, cancel: null }),
        },
      );
      if (signal.aborted) {
        // Signed out meanwhile: nobody could find it here. If this fails, it ends by itself.
        void client.renders.cancel(record.id).catch(() => undefined);
        return;
      }
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
      // When one upload fails, the other ends.
      controller.abort();
      throw error;
    } finally {
      setSending(null);
    }
  };
  return { sending, submit };
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
