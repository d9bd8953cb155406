import { AUDIO_SAMPLE_RATE, readAudio } from '@lipsync/media';
import { gpuInferenceMs, type Job, MEDIA_DEADLINE_MS } from './job';
import { audioOf, videoOf } from './local-media';
import { renderClip, type RenderedClip } from './pipeline/render-clip';
import { type RenderResult, type RenderTask } from './protocol';
import { openFeatures } from './stored-features';
import { readTrack } from './stored-track';

/** Carries out a render: one engine over one video whose face track is known. */
export async function renderVideo(task: RenderTask, job: Job): Promise<RenderResult> {
  const { binaries, clock, progress, signal } = job;
  progress.loading();
  const engine = await clock.during('load', () => job.models.engine(task.engine, task.packDir));
  const video = await videoOf(task.videoPath, job);
  const audioStream = await audioOf(task.audioPath, job);
  const audio = await clock.during('audio', () =>
    readAudio(binaries, task.audioPath, { deadlineMs: MEDIA_DEADLINE_MS, signal }),
  );
  const track = await readTrack(task.faceTrackPath, video);

  const features = openFeatures(task.featuresPath, engine.features, track);
  let rendered: RenderedClip;
  try {
    const { videoPath, audioPath, outputPath, syncMode } = task;
    rendered = await renderClip(
      { videoPath, audioPath, outputPath, syncMode, video, audioStream, audio, track, features },
      { binaries, engine, progress, clock, signal, deadlineMs: MEDIA_DEADLINE_MS },
    );
  } finally {
    features.close();
  }
  clock.add('infer', job.inferMs());
  const { outputFrames } = rendered;
  const quality = await clock.during('quality', async () =>
    rendered.quality.finish(await job.models.analyzer(task.analyzerPackDir)),
  );
  return {
    type: 'render',
    inputAudioSeconds: audio.length / AUDIO_SAMPLE_RATE,
    outputSeconds: outputFrames / track.fps,
    width: track.width,
    height: track.height,
    renderedFrames: outputFrames,
    featuresAdded: features.added(),
    detectorRuns: job.detectorRuns(),
    gpuInferenceMs: gpuInferenceMs(job),
    quality,
    timings: clock.timings(),
  };
}
