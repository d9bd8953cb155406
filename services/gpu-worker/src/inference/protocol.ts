import { type Engine, type ErrorCode, type SyncMode } from '@lipsync/contract';

/** A render: one engine over one video and one speech track. All paths are local files. */
export interface RenderTask {
  readonly jobId: string;
  readonly engine: Engine;
  readonly packDir: string;
  readonly analyzerPackDir: string;
  readonly videoPath: string;
  /** Length of the video if it is known: the measure of the analysis' progress, and reported again. */
  readonly videoSeconds?: number;
  readonly audioPath: string;
  readonly outputPath: string;
  readonly syncMode: SyncMode;
  /** A face track of the same video made earlier; without it the video is analysed first. */
  readonly faceTrackPath?: string;
}

/** A face analysis of one video, written to `outPath` as an encoded face track. */
export interface AnalyzeTask {
  readonly jobId: string;
  readonly analyzerPackDir: string;
  readonly videoPath: string;
  readonly videoSeconds?: number;
  readonly outPath: string;
}

/** Loads every graph of every pack and compares it with what the manifest says. */
export interface VerifyTask {
  readonly jobId: string;
  readonly packDirs: readonly string[];
}

/**
 * Stages that the child passes through; the upload that follows a render is the supervisor's. `preparing` is the face
 * analysis and counts 0 to 100 on its own, the others share the scale of the render.
 */
export type InferenceStage = 'loading_model' | 'preparing' | 'inferencing' | 'encoding';

/** Where the time of a job went. Stages overlap, so they do not add up to the total. */
export interface StageTimings {
  readonly totalMs: number;
  readonly loadMs: number;
  /** The analysis pass: decoding at reduced size, detector and landmarks. 0 with a prepared track. */
  readonly analyseMs: number;
  readonly audioMs: number;
  /** Waiting for decoded frames in the render pass. */
  readonly decodeMs: number;
  readonly cropMs: number;
  /** Inside the graphs, on their thread. */
  readonly inferMs: number;
  readonly pasteMs: number;
  /** Waiting for the encoder to take frames and, at the end, to finish the file. */
  readonly encodeMs: number;
  readonly peakRssBytes: number;
}

export interface RenderResult {
  readonly type: 'render';
  /** Length of the video as its prepared track or the task gives it, else of as much as was analysed. */
  readonly inputVideoSeconds: number;
  readonly inputAudioSeconds: number;
  readonly outputSeconds: number;
  readonly width: number;
  readonly height: number;
  /** Not more than the timeline needs; 0 when the face track was prepared earlier. */
  readonly analyzedFrames: number;
  readonly renderedFrames: number;
  readonly timings: StageTimings;
}

export interface AnalyzeResult {
  readonly type: 'analyze';
  readonly version: string;
  readonly analyzerVersion: string;
  readonly frames: number;
  readonly fps: number;
  readonly width: number;
  readonly height: number;
  readonly durationSeconds: number;
  readonly timings: StageTimings;
}

export interface PackReport {
  readonly packDir: string;
  /** What the pack's graphs run on. */
  readonly provider?: string;
  /** Absent when the pack may be used. */
  readonly problem?: string;
}

export interface VerifyResult {
  readonly type: 'verify';
  readonly packs: readonly PackReport[];
}

export type TaskResult = RenderResult | AnalyzeResult | VerifyResult;

export type Task =
  | ({ readonly type: 'render' } & RenderTask)
  | ({ readonly type: 'analyze' } & AnalyzeTask)
  | ({ readonly type: 'verify' } & VerifyTask);

/** Supervisor → child. One task at a time; `cancel` takes effect between two batches. */
export type ToInference = Task | { readonly type: 'cancel'; readonly jobId: string };

/** Child → supervisor. A task ends with exactly one `done` or `failed`; percent never falls within a stage. */
export type FromInference =
  | { readonly type: 'ready' }
  | {
      readonly type: 'progress';
      readonly jobId: string;
      readonly stage: InferenceStage;
      readonly percent: number;
    }
  | { readonly type: 'done'; readonly jobId: string; readonly result: TaskResult }
  | { readonly type: 'failed'; readonly jobId: string; readonly code: FailureCode; readonly detail: string };

/** `cancelled` is no error: it is the answer to a cancel message. */
export type FailureCode = ErrorCode | 'cancelled';
