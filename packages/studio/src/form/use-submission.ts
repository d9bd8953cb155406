import { type LipSync } from '@lipsync/client';
import { useEffect, useState } from 'preact/hooks';
import { keepVideo } from '../history/media-store';
import { type RecentRenders } from '../history/recent-renders';
import { type Choice, forgetUpload, inputOf, nameOf, rememberUpload, type RenderChoices } from './choice';
import { type Sending } from './upload-panel';

interface SubmissionOptions {
  readonly recent: RecentRenders;
  readonly onCreated: (id: string) => void;
}

/** Uploads what was chosen, creates the render, and remembers it. */
export function useSubmission({ recent, onCreated }: SubmissionOptions): {
  sending: Sending | null;
  submit: (client: LipSync, choices: RenderChoices) => Promise<void>;
} {
  const [sending, setSending] = useState<Sending | null>(null);
  useLeaveWarning(sending !== null);

  const submit = async (client: LipSync, choices: RenderChoices): Promise<void> => {
    const { video, voice, engines, syncMode } = choices;
    if (video === null || voice === null) return;
    const controller = new AbortController();
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
      rememberUpload(video, record.video_asset_id);
      rememberUpload(voice, record.audio_asset_id);
      if (video.kind !== 'url' && video.file !== null) void keepVideo(record.id, video.file);
      const picture = pictureOf(video);
      recent.addRender({
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
      });
      onCreated(record.id);
    } catch (error) {
      // An asset that is gone or of no use is uploaded anew at the next try.
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
