import { type Engine, type ErrorCode, type SyncMode } from '@lipsync/contract';
import { type ReplacedCodec } from '@lipsync/media';
import { type PackRef, type Provider } from '@lipsync/model-pack';
import { type FeatureLayout } from './feature-layout';
import { type OutputQuality } from './output-quality';
import { type TimedStage } from './timed-stages';

/** A pack that was verified, as tasks name it. */
export interface TaskPack extends PackRef {
  /** What its graphs were found to run on; the child finds out by loading them when absent. */
  readonly provider?: Provider;
}

/** A render: one engine over one video and one speech track. All paths are local files. */
export interface RenderTask {
  readonly jobId: string;
  readonly engine: Engine;
  /** What was verified and what features are named after: the child refuses another pack in its place. */
  readonly pack: TaskPack;
  /** Looks at the result: a render measures how well the mouth follows the voice. */
  readonly analyzer: TaskPack;
  readonly videoPath: string;
  readonly audioPath: string;
  readonly outputPath: string;
  readonly syncMode: SyncMode;
  /** The face track of the same video, at least as far as the timeline uses it. */
  readonly faceTrackPath: string;
  /** What this engine with this pack knows of the video's frames; read, and extended. Made when it is not there. */
  readonly featuresPath?: string;
}

/** What a preparation computes ahead for one engine. */
export interface FeaturesTask {
  readonly engine: Engine;
  readonly pack: TaskPack;
  /** The file of features, extended; made when it is not there, unless the engine keeps nothing. */
  readonly featuresPath: string;
}

/** A look at one video ahead of renders: where the face is and, if asked for, what engines can know without speech. */
export interface AnalyzeTask {
  readonly jobId: string;
  readonly analyzer: TaskPack;
  readonly videoPath: string;
  /** Length of the video if it is known: the measure of the progress. */
  readonly videoSeconds?: number;
  /** Frames from the start that somebody wants to know about, see `usedVideoFrames`; all when absent. */
  readonly wantedFrames?: number;
  /** Where the face track is written to. */
  readonly trackPath: string;
  /** A face track of this whole video made earlier: then nothing is analysed and no track is written. */
  readonly reuseTrackPath?: string;
  readonly engines?: readonly FeaturesTask[];
}

/** Loads every graph of every pack and compares it with what the manifest says. */
export interface VerifyTask {
  readonly jobId: string;
  readonly packDirs: readonly string[];
}

/** Loads what later tasks will need and runs the probes of it once, so that the first of them does not wait for it. */
export interface WarmTask {
  readonly jobId: string;
  readonly analyzer: TaskPack;
  readonly engines: readonly { readonly engine: Engine; readonly pack: TaskPack }[];
}

/**
 * Stages that the child passes through; the upload that follows a render is the supervisor's. `preparing` is the face
 * analysis and counts 0 to 100 on its own, the others share the scale of the render.
 */
export type InferenceStage = 'loading_model' | 'preparing' | 'inferencing' | 'encoding';

/** Where the time of a task went, see `TIMED_STAGES`. Stages overlap, so they do not add up to the total. */
export interface StageTimings extends Readonly<Record<`${TimedStage}Ms`, number>> {
  readonly totalMs: number;
  readonly peakRssBytes: number;
}

export interface RenderResult {
  readonly type: 'render';
  readonly inputAudioSeconds: number;
  readonly outputSeconds: number;
  readonly width: number;
  readonly height: number;
  readonly renderedFrames: number;
  /** Source frames whose features were computed and written to `featuresPath`. */
  readonly featuresAdded: number;
  /** How often the face detector ran: never, for the track says where the face is. Counted, not assumed. */
  readonly detectorRuns: number;
  /** Whenever software took a card's place in decoding or encoding: for the log. */
  readonly replacedCodecs: readonly ReplacedCodec[];
  /** Inside the graphs while they ran on a GPU; null when they ran on the CPU. */
  readonly gpuInferenceMs: number | null;
  readonly quality: OutputQuality;
  readonly timings: StageTimings;
}

export interface AnalyzeResult {
  readonly type: 'analyze';
  /** Of the face track, see FACE_TRACK_VERSION. */
  readonly version: string;
  readonly analyzerVersion: string;
  /** Of the track: not more than was wanted and the look-ahead. */
  readonly frames: number;
  readonly fps: number;
  readonly width: number;
  readonly height: number;
  readonly durationSeconds: number;
  /** Whether the track covers the whole video. */
  readonly complete: boolean;
  /** Rows from the start that an analysis of more frames would not change: a shorter timeline may use the track. */
  readonly settledFrames: number;
  /** Source frames whose features were computed, by the engines that were asked for and did not fail. */
  readonly featuresAdded: Readonly<Partial<Record<Engine, number>>>;
  /** Why the others failed, which costs nobody else anything: for the log. */
  readonly featuresFailed: Readonly<Partial<Record<Engine, string>>>;
  /** How often the face detector ran: never with a reused track. */
  readonly detectorRuns: number;
  /** As of a render. */
  readonly replacedCodecs: readonly ReplacedCodec[];
  /** As of a render, for the graphs of the analyser and of the engines together. */
  readonly gpuInferenceMs: number | null;
  readonly timings: StageTimings;
}

export interface PackReport {
  readonly packDir: string;
  /** What the pack's graphs run on. */
  readonly provider?: Provider;
  /** Why it is none of those that would have been preferred. */
  readonly passedOver?: readonly string[];
  /** What its features are, where the engine keeps any; a file of features is of one layout and one pack. */
  readonly features?: FeatureLayout;
  /** Absent when the pack may be used. */
  readonly problem?: string;
  /** With a problem that may be gone once others on the device have ended: nothing is wrong with the pack. */
  readonly shortOfMemory?: true;
}

export interface VerifyResult {
  readonly type: 'verify';
  readonly packs: readonly PackReport[];
}

export interface WarmResult {
  readonly type: 'warm';
}

export type TaskResult = RenderResult | AnalyzeResult | VerifyResult | WarmResult;

export type Task =
  | ({ readonly type: 'render' } & RenderTask)
  | ({ readonly type: 'analyze' } & AnalyzeTask)
  | ({ readonly type: 'verify' } & VerifyTask)
  | ({ readonly type: 'warm' } & WarmTask);

/** Supervisor → child. One task at a time; `cancel` takes effect between two batches; `ping` is answered at any time. */
export type ToInference =
  Task | { readonly type: 'cancel'; readonly jobId: string } | { readonly type: 'ping' };

/** Child → supervisor. A task ends with exactly one `done` or `failed`; percent never falls within a stage. */
export type FromInference =
  | { readonly type: 'ready' }
  | { readonly type: 'pong' }
  | {
      readonly type: 'progress';
      readonly jobId: string;
      readonly stage: InferenceStage;
      readonly percent: number;
    }
  | { readonly type: 'done'; readonly jobId: string; readonly result: TaskResult }
  | {
      readonly type: 'failed';
      readonly jobId: string;
      readonly code: FailureCode;
      readonly detail: string;
      /** A graph could not be loaded or run, and not for want of memory. */
      readonly graphFailed?: true;
    };

/**
 * `cancelled` is no error: it is the answer to a cancel message. `pack_lost`: the pack that the task names is not there
 * any more, or not whole, so no task that names it can succeed. `device_lost`, which only the host can tell: graphs fail on
 * the GPU in a fresh child too.
 */
export type FailureCode = ErrorCode | 'cancelled' | 'pack_lost' | 'device_lost';
