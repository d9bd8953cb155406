import { AUDIO_SAMPLE_RATE, recordAudio } from '@lipsync/media';
import { type RenderResult, type RenderTask } from '../protocol/messages';
import { type OutputQuality } from '../protocol/output-quality';
import { gpuInferenceMs, type Job, MEDIA_DEADLINE_MS } from './job';
import { audioOf, videoOf } from './local-media';
import { renderClip, type RenderedClip } from './pipeline/render-clip';
import { type UnfailingProbe } from './quality/unfailing-probe';
import { openSpeechFile, type SpeechFile } from './speech-file';
import { openFeatures } from './stored-features';
import { readTrack } from './stored-track';

/** Runs a render: one engine over one video whose face track is known. */
export async function renderVideo(task: RenderTask, job: Job): Promise<RenderResult> {
  const speech = openSpeechFile(task.outputPath);
  try {
    return await renderSpoken(task, job, speech);
  } finally {
    speech.close();
  }
}

async function renderSpoken(task: RenderTask, job: Job, speech: SpeechFile): Promise<RenderResult> {
  const { binaries, clock, progress, signal } = job;
  progress.loading();
  const loading = clock.during('load', () => job.models.engine(task.engine, task.pack));
  const inspecting = videoOf(task.videoPath, job);
  const listening = audioOf(task.audioPath, job);
  const hearing = clock.during('audio', () =>
    recordAudio(binaries, task.audioPath, speech.descriptor, { deadlineMs: MEDIA_DEADLINE_MS, signal }),
  );
  // Whichever of them fails, nothing of this task may continue when the next one starts.
  await Promise.allSettled([loading, inspecting, listening, hearing]);
  const engine = await loading;
  const video = await inspecting;
  const audioStream = await listening;
  await hearing;
  const audio = speech.recording();
  const track = await readTrack(task.faceTrackPath, video);

  let engineGpuMs: number | null = null;
  let graphFailed = false;
  const judge = async (probe: UnfailingProbe): Promise<OutputQuality> => {
    // The quality probe's graphs count towards neither the engine's time nor the customer's usage.
    clock.add('infer', job.inferMs());
    engineGpuMs = gpuInferenceMs(job);
    const quality = await clock.during('quality', () =>
      probe.judge(() => job.models.analyzer(task.analyzer)),
    );
    graphFailed = probe.graphFailed();
    return quality;
  };
  const features = openFeatures(task.featuresPath, engine.features, track);
  let rendered: RenderedClip;
  try {
    const { videoPath, audioPath, outputPath, syncMode } = task;
    rendered = await renderClip(
      { videoPath, audioPath, outputPath, syncMode, video, audioStream, audio, track, features },
      { binaries, engine, progress, clock, signal, deadlineMs: MEDIA_DEADLINE_MS, judge },
    );
  } finally {
    features.close();
  }
  const { outputFrames, quality } = rendered;
  return {
    type: 'render',
    inputAudioSeconds: audio.length / AUDIO_SAMPLE_RATE,
    outputSeconds: outputFrames / track.fps,
    width: track.width,
    height: track.height,
    renderedFrames: outputFrames,
    featuresAdded: features.added(),
    detectorRuns: job.detectorRuns(),
    replacedCodecs: job.replacedCodecs(),
    gpuInferenceMs: engineGpuMs,
    graphFailed,
    quality,
    timings: clock.timings(),
  };
}
