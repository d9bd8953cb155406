import { type RenderRecord } from '@lipsync/client';
import { type JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { CredentialsBadge } from '../credentials/credentials-badge';
import { examineVideo } from '../form/examine';
import { formatBytes, formatSeconds } from '../form/media-limits';
import { type PlayerClip } from '../player/clip-view';
import { Player } from '../player/player';
import { clockOf, sourceTimeline } from '../player/source-clock';
import { engineName } from '../shared/engines';
import { Icon } from '../shared/icons';
import { Meter } from '../shared/meter';
import { syncModeOf } from '../shared/sync-modes';
import { useObjectUrl } from '../shared/use-object-url';

interface ResultsProps {
  readonly record: RenderRecord;
  readonly files: ReadonlyMap<string, Blob>;
  /** The video that was rendered, if this browser has it. */
  readonly source: File | null;
  readonly sourceName: string;
  /** A small picture of the source as a data URL, if there is one. */
  readonly poster: string | undefined;
  readonly onSource: (file: File) => void;
}

/** What is seen until all bytes are here: `received` of them, 0 to 1. */
export function ResultsOnTheirWay({
  received,
  poster,
}: {
  received: number;
  poster: string | undefined;
}): JSX.Element {
  return (
    <div class="fetching card" role="status">
      {poster !== undefined && <img src={poster} alt="" />}
      <div>
        <p>Fetching the results …</p>
        <Meter value={received} label="Results fetched" />
      </div>
    </div>
  );
}

/** Source and engines in one transport, and the files to take away. */
export function Results(props: ResultsProps): JSX.Element {
  const { record, files, source, sourceName, poster, onSource } = props;
  const [sourceSeconds, setSourceSeconds] = useState<number | null>(null);
  const usage = record.engines.find(({ engine }) => files.has(engine))?.usage;
  const outputSeconds = usage?.output_seconds ?? 1;
  const clock = useMemo(
    () => clockOf(outputSeconds, usage?.rendered_frames),
    [outputSeconds, usage?.rendered_frames],
  );
  const videoSeconds = usage?.input_video_seconds ?? sourceSeconds;

  // The service measures the video; only if it does not say how long it is, the browser is asked.
  useEffect(() => {
    if (source === null || usage?.input_video_seconds !== undefined) return;
    void examineVideo(source).then(({ seconds }) => setSourceSeconds(seconds));
  }, [source]);

  const clips = useMemo((): readonly PlayerClip[] => {
    const outputs = [...files].map(([engine, file]) => ({
      name: engine,
      label: engineName(engine),
      file,
      url: URL.createObjectURL(file),
      timeline: null,
      saveAs: fileName(sourceName, engine),
    }));
    const mode = syncModeOf(record.sync_mode);
    if (source === null || videoSeconds === null || mode === null) return outputs;
    const voiceSeconds = usage?.input_audio_seconds ?? outputSeconds;
    const timeline = sourceTimeline(mode, clock, { videoSeconds, voiceSeconds });
    const url = URL.createObjectURL(source);
    return [{ name: 'source', label: 'Source', file: source, url, timeline, saveAs: null }, ...outputs];
  }, [files, source, videoSeconds, clock]);
  useEffect(() => () => clips.forEach(({ url }) => URL.revokeObjectURL(url)), [clips]);

  return (
    <div class="results">
      <Player key={clips.map(({ url }) => url).join()} clips={clips} poster={poster} clock={clock} />
      {source === null && <SourceChoice onSource={onSource} />}
      <section class="takeaway" aria-label="Downloads">
        {[...files].map(([engine, file]) => (
          <div key={engine} class="result">
            <Download engine={engine} file={file} record={record} name={fileName(sourceName, engine)} />
            <CredentialsBadge file={file} label={engineName(engine)} />
          </div>
        ))}
      </section>
    </div>
  );
}

function fileName(sourceName: string, engine: string): string {
  return `${sourceName.replace(/\.[^.]+$/, '')}.${engine}.mp4`;
}

/** The service returns no inputs: comparing with the source takes the file itself. */
function SourceChoice({ onSource }: { onSource: (file: File) => void }): JSX.Element {
  return (
    <label class="source-choice card">
      <Icon name="film" />
      <span>
        <strong>Compare with the source.</strong>{' '}
        <span class="soft">
          This browser does not have the video. Choose it, and it plays beside the results.
        </span>
      </span>
      <span class="button">Choose the video</span>
      <input
        type="file"
        class="hidden-label"
        accept="video/*"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file !== undefined) onSource(file);
        }}
      />
    </label>
  );
}

interface DownloadProps {
  engine: string;
  file: Blob;
  name: string;
  record: RenderRecord;
}

function Download({ engine, file, name, record }: DownloadProps): JSX.Element {
  const url = useObjectUrl(file);
  const usage = record.engines.find((result) => result.engine === engine)?.usage;
  const facts = [
    formatBytes(file.size),
    usage?.output_seconds === undefined ? null : formatSeconds(usage.output_seconds),
    usage?.processing_ms === undefined ? null : `made in ${formatSeconds(usage.processing_ms / 1000)}`,
  ];
  return (
    <a class="download card" href={url} download={name}>
      <span class="dot" style={{ '--color': `var(--${engine}, var(--accent))` }} />
      <span>
        <strong>{engineName(engine)}</strong>
        <span class="soft small number">{facts.filter((fact) => fact !== null).join(' · ')}</span>
      </span>
      <span class="download-mark">
        <Icon name="download" />
        <span class="hidden-label">Download</span>
      </span>
    </a>
  );
}
