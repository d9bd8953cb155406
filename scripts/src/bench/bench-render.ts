import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startInference, type StageTimings } from '@lipsync/gpu-worker';
import { PACKS_DIR } from '../local-stack/layout';
import { makeClip, transcodeSeconds } from './clips';

export interface RenderFigures {
  clip_seconds: number;
  /** The whole task: load, analyse, render. */
  render_seconds_per_output_second: number;
  transcode_seconds_per_output_second: number;
  /** Render time over plain transcode time, in the same run. */
  times_transcode: number;
  /** Stages overlap: each is the time spent in it (or waiting for it), not a share of the total. */
  stage_seconds: Record<
    'load' | 'analyse' | 'audio' | 'decode' | 'crop' | 'infer' | 'paste' | 'encode',
    number
  >;
  /** Of the inference process, without its ffmpeg children. */
  peak_rss_mib: number;
}

/** Renders 720p clips of the given lengths with musetalk, each in a fresh process. */
export async function benchRender(ffmpeg: string, lengths: readonly number[]): Promise<RenderFigures[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-'));
  try {
    const figures: RenderFigures[] = [];
    for (const seconds of lengths) figures.push(await benchOne(ffmpeg, folder, seconds));
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function benchOne(ffmpeg: string, folder: string, seconds: number): Promise<RenderFigures> {
  const clip = await makeClip(ffmpeg, folder, seconds);
  const transcode = await transcodeSeconds(ffmpeg, clip, path.join(folder, 'transcode.mp4'));
  const inference = await startInference({ packsDir: PACKS_DIR });
  try {
    const { outputSeconds, timings, analysis } = await inference.render({
      engine: 'musetalk',
      videoPath: clip.videoFile,
      audioPath: clip.audioFile,
      outputPath: path.join(folder, 'render.mp4'),
      syncMode: 'cut_off',
    });
    const renderSeconds = (timings.totalMs + (analysis?.timings.totalMs ?? 0)) / 1000;
    return {
      clip_seconds: seconds,
      render_seconds_per_output_second: renderSeconds / outputSeconds,
      transcode_seconds_per_output_second: transcode / outputSeconds,
      times_transcode: renderSeconds / transcode,
      stage_seconds: stageSeconds(timings, analysis?.timings),
      peak_rss_mib: timings.peakRssBytes / 2 ** 20,
    };
  } finally {
    inference.close();
  }
}

function stageSeconds(timings: StageTimings, analysis?: StageTimings): RenderFigures['stage_seconds'] {
  return {
    load: (timings.loadMs + (analysis?.loadMs ?? 0)) / 1000,
    analyse: (analysis?.analyseMs ?? 0) / 1000,
    audio: timings.audioMs / 1000,
    decode: timings.decodeMs / 1000,
    crop: timings.cropMs / 1000,
    infer: timings.inferMs / 1000,
    paste: timings.pasteMs / 1000,
    encode: timings.encodeMs / 1000,
  };
}
