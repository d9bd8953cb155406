import { type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Failure } from '../errors/failure';
import { Icon } from '../shared/icons';
import { useObjectUrl } from '../shared/use-object-url';
import { type Choice } from './choice';
import { BARS } from './examine';
import { MediaField } from './media-field';
import { formatBytes, formatSeconds, LIMITS, MAX_SECONDS } from './media-limits';
import { canRecord, record, type Recording } from './recorder';

interface VoiceFieldProps {
  readonly choice: Choice | null;
  readonly problem: string | null;
  readonly failure: Failure | null;
  readonly onFiles: (files: readonly File[]) => void;
  readonly onChoice: (choice: Choice | null) => void;
}

export function VoiceField({ choice, problem, failure, onFiles, onChoice }: VoiceFieldProps): JSX.Element {
  const [recording, setRecording] = useState<Recording | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);

  // The microphone is not left on when the page changes, nor turned on after that.
  useEffect(() => () => recording?.cancel(), [recording]);
  const isShown = useRef(true);
  useEffect(() => () => void (isShown.current = false), []);

  const start = async (): Promise<void> => {
    try {
      setRefusal(null);
      const started = await record(new Date());
      if (isShown.current) setRecording(started);
      else started.cancel();
    } catch (error) {
      setRefusal(
        error instanceof DOMException && error.name === 'NotAllowedError'
          ? 'The microphone is not allowed. Allow it in the browser’s address bar, and try again.'
          : 'There is no microphone to record from. Plug one in, or choose a file.',
      );
    }
  };

  return (
    <MediaField
      mediaType="audio"
      title="Voice"
      icon="voice"
      formats={`WAV, MP3, M4A and more. ${LIMITS}`}
      choice={choice}
      problem={recording === null ? (refusal ?? problem) : null}
      failure={failure}
      onFiles={(files) => {
        setRefusal(null);
        onFiles(files);
      }}
      onUrl={(url) => onChoice(url === '' ? null : { kind: 'url', url })}
      onClear={() => onChoice(null)}
      actions={
        canRecord() && (
          <button type="button" class="button" onClick={() => void start()}>
            <Icon name="microphone" size={16} />
            Record
          </button>
        )
      }
      instead={
        recording === null ? undefined : (
          <RecordingView
            recording={recording}
            onEnd={(file) => {
              setRecording(null);
              if (file !== null) onFiles([file]);
            }}
          />
        )
      }
      preview={choice?.kind === 'file' && <VoicePreview choice={choice} />}
    />
  );
}

interface RecordingProps {
  recording: Recording;
  onEnd: (file: File | null) => void;
}

function RecordingView({ recording, onEnd }: RecordingProps): JSX.Element {
  const [{ seconds, level }, setNow] = useState({ seconds: 0, level: 0 });
  const stop = (): void => void recording.stop().then(onEnd);
  const ending = useRef(stop);
  useEffect(() => {
    const startedAt = performance.now();
    let handle = 0;
    const tick = (): void => {
      const elapsed = (performance.now() - startedAt) / 1000;
      setNow({ seconds: elapsed, level: recording.level() });
      if (elapsed >= MAX_SECONDS) ending.current();
      else handle = requestAnimationFrame(tick);
    };
    handle = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(handle);
  }, [recording]);
  return (
    <div class="recording" style={{ '--level': level.toFixed(2) }}>
      <span class="recording-level">
        <Icon name="microphone" size={34} />
      </span>
      <p class="recording-time number" role="timer" aria-label="Recorded">
        {formatSeconds(seconds)}
      </p>
      <div class="media-actions">
        <button type="button" class="button button-primary" onClick={stop}>
          Use this recording
        </button>
        <button
          type="button"
          class="button"
          onClick={() => {
            recording.cancel();
            onEnd(null);
          }}
        >
          Discard
        </button>
      </div>
    </div>
  );
}

function VoicePreview({
  choice: { file, seconds, loudness = new Float32Array(BARS) },
}: {
  choice: Extract<Choice, { kind: 'file' }>;
}): JSX.Element {
  const audio = useRef<HTMLAudioElement>(null);
  const url = useObjectUrl(file);
  const [playing, setPlaying] = useState(false);
  return (
    <div class="preview">
      <div class="preview-voice">
        <button
          type="button"
          class="button preview-play"
          aria-label={playing ? 'Pause the voice' : 'Play the voice'}
          onClick={() => {
            if (playing) audio.current?.pause();
            else void audio.current?.play().catch(() => setPlaying(false));
          }}
        >
          <Icon name={playing ? 'pause' : 'play'} size={20} />
        </button>
        <svg viewBox={`0 0 ${BARS} 100`} preserveAspectRatio="none" aria-hidden="true">
          {Array.from(loudness, (peak, i) => {
            const half = Math.max(2, Math.sqrt(peak) * 48);
            return <path key={i} d={`M${i + 0.5} ${50 - half}V${50 + half}`} stroke-width="0.6" />;
          })}
        </svg>
        <audio
          ref={audio}
          src={url}
          preload="auto"
          onPlay={() => setPlaying(true)}
          onPause={() => setPlaying(false)}
          onEnded={() => setPlaying(false)}
        />
      </div>
      <p class="preview-facts">
        <span class="preview-name">{file.name}</span>
        <span class="soft small number">
          {[seconds === null ? null : formatSeconds(seconds), formatBytes(file.size)]
            .filter((fact) => fact !== null)
            .join(' · ')}
        </span>
      </p>
    </div>
  );
}
