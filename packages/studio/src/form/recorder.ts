import { CONTENT_TYPES } from '@lipsync/client';

/** What browsers record, best first: Chromium and Firefox know the first two, Safari the third. */
const RECORDED = ['audio/webm;codecs=opus', 'audio/ogg;codecs=opus', 'audio/mp4'];

export interface Recording {
  /** Ends it, and resolves to the file. */
  stop: () => Promise<File>;
  /** Throws it away, if it has not ended. */
  cancel: () => void;
  /** The loudest sample of the last moment, 0 to 1. */
  level: () => number;
}

/** Whether this browser, on this page, can record at all: microphones need https or localhost. */
export function canRecord(): boolean {
  // Without TLS there are no media devices, whatever the type says.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  return devices !== undefined && typeof MediaRecorder !== 'undefined';
}

/**
 * Records the microphone.
 * @throws DOMException NotAllowedError, NotFoundError, if there is none to record from
 */
export async function record(now: Date): Promise<Recording> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
  const mimeType = RECORDED.find((type) => MediaRecorder.isTypeSupported(type));
  const recorder = new MediaRecorder(stream, mimeType === undefined ? {} : { mimeType });
  const chunks: Blob[] = [];
  recorder.addEventListener('dataavailable', ({ data }) => chunks.push(data));
  const context = new AudioContext();
  const analyser = new AnalyserNode(context, { fftSize: 1024 });
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const release = (): void => {
    for (const track of stream.getTracks()) track.stop();
    if (context.state !== 'closed') void context.close();
  };
  recorder.start();
  return {
    level: () => {
      analyser.getFloatTimeDomainData(samples);
      return samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
    },
    cancel: () => {
      if (recorder.state !== 'inactive') recorder.stop();
      release();
    },
    stop: () =>
      new Promise((resolve) => {
        recorder.addEventListener(
          'stop',
          () => {
            release();
            resolve(new File(chunks, recordingName(recorder.mimeType, now), { type: recorder.mimeType }));
          },
          { once: true },
        );
        recorder.stop();
      }),
  };
}

/** “recording-14-05.webm” */
export function recordingName(mimeType: string, now: Date): string {
  const essence = mimeType.split(';', 1)[0] ?? '';
  const type = CONTENT_TYPES.audio.find((known) => known === essence);
  const extension = type === 'audio/mp4' ? 'm4a' : (type?.split('/')[1] ?? 'webm');
  const two = (value: number): string => String(value).padStart(2, '0');
  return `recording-${two(now.getHours())}-${two(now.getMinutes())}.${extension}`;
}
