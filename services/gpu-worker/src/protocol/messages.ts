import { type Engine, type ErrorCode, type SyncMode } from '@lipsync/contract';
import { type FeatureLayout } from '@lipsync/engines';
import { type ProbedAudio, type ReplacedCodec, type VideoStream } from '@lipsync/media';
import { type PackRef, type Provider } from '@lipsync/model-pack';

/** A verified pack, as tasks name it. */
export interface TaskPack extends PackRef {
  /** The provider that its graphs run on, if known; otherwise the child finds out by loading them. */
  readonly provider?: Provider;
}

/** A render: one engine over one video and one speech track. All paths are local files. */
export interface RenderTask {
  readonly jobId: string;
  readonly engine: Engine;
  /** The pack that was verified and that features are keyed by: the child refuses any other pack in its place. */
  readonly pack: TaskPack;
  /** Analyzes the result, to measure how well the mouth follows the voice. */
  readonly analyzer: TaskPack;
  readonly videoPath: string;
  readonly audioPath: string;
  /** Under which something may be kept of the video between renders: the same for the same bytes of one customer. */
  readonly videoKey?: string;
  /** What is known of the streams of these files, so that the child need not inspect them. */
  readonly video?: VideoStream;
  readonly audio?: ProbedAudio;
  readonly outputPath: string;
  readonly syncMode: SyncMode;
  /** The face track of the same video, covering at least what the timeline uses. */
  readonly faceTrackPath: string;
  /** The file of this engine's and pack's features of the video; read, extended, and created if missing. */
  readonly featuresPath?: string;
}

/** What a preparation computes ahead of time for one engine. */
export interface FeaturesTask {
  readonly engine: Engine;
  readonly pack: TaskPack;
  /** The file of features; extended, and created if missing unless the engine caches nothing. */
  readonly featuresPath: string;
}

/**
 * An analysis of one video ahead of renders: where the face is and, if requested, the engines' speech-independent
 * features.
 */
export interface AnalyzeTask {
  readonly jobId: string;
  readonly analyzer: TaskPack;
  readonly videoPath: string;
  /** What is known of its stream, so that the child need not inspect it. */
  readonly video?: VideoStream;
  /** Length of the video, if known, for the progress. */
  readonly videoSeconds?: number;
  /** How many seconds are needed, from the start, see `usedVideoSeconds`; default: all. */
  readonly wantedSeconds?: number;
  /** Where to write the face track, or where it is. */
  readonly trackPath: string;
  /** The track exists and covers the whole video: nothing is analyzed and no track is written. */
  readonly reuseTrack?: true;
  readonly engines?: readonly FeaturesTask[];
}

/** Loads every graph of every pack and compares it with what the manifest says. */
export interface VerifyTask {
  readonly jobId: string;
  readonly packDirs: readonly string[];
}

/** Loads what later tasks will need and runs its probes once, so that the first task does not have to wait for that. */
export interface WarmTask {
  readonly jobId: string;
  readonly analyzer: TaskPack;
  readonly engines: readonly { readonly engine: Engine; readonly pack: TaskPack }[];
}

/**
 * Stages that the child passes through; the supervisor handles the upload after a render. `preparing` is the face
 * analysis and counts from 0 to 100 on its own; the others share the scale of the render.
 */
export type InferenceStage = 'loading_model' | 'preparing' | 'inferencing' | 'encoding';

/** How a task's time was spent, see `TIMED_STAGES`. Stages overlap, so they do not add up to the total; `wall` does. */
export interface StageTimings extends Readonly<Record<`${TimedStage}Ms`, number>> {
  readonly totalMs: number;
  readonly wall: WallTime;
  readonly peakRssBytes: number;
}

/**
 * Each millisecond of a task once. Graphs run one at a time on a thread of their own; `graphs` is the time in them,
 * `handover` that of tensors on their way to the thread and back, and the rest is what the graphs waited for: the stage
 * that was at work meanwhile, or `other`: the engine's own arithmetic between runs, and starting decoder and encoder.
 */
export interface WallTime extends Readonly<Partial<Record<TimedStage, number>>> {
  readonly graphs: number;
  readonly handover: number;
  readonly other: number;
}

/**
 * Size of the tensors that graphs were given and gave, in bytes: what is copied to a GPU and back where graphs run on
 * one, because every tensor here is in the memory of the process.
 */
export interface TensorBytes {
  readonly given: number;
  readonly received: number;
}

export interface RenderResult {
  readonly type: 'render';
  readonly inputAudioSeconds: number;
  readonly outputSeconds: number;
  readonly width: number;
  readonly height: number;
  readonly renderedFrames: number;
  /** Number of source frames whose features were computed and written to `featuresPath`. */
  readonly featuresAdded: number;
  /** How often the face detector ran: should be 0, because the track locates the face. Counted, not assumed. */
  readonly detectorRuns: number;
  /** Every replacement of a GPU codec by software, for the log. */
  readonly replacedCodecs: readonly ReplacedCodec[];
  /** Milliseconds inside the engine's graphs while they ran on a GPU; null when they ran on the CPU. */
  readonly gpuInferenceMs: number | null;
  /** What the engine's graphs were given, and what they returned. */
  readonly tensorBytes: TensorBytes;
  /** Whether a graph failed where that only costs measurements of the output. */
  readonly graphFailed: boolean;
  readonly quality: OutputQuality;
  readonly timings: StageTimings;
}

export interface AnalyzeResult {
  readonly type: 'analyze';
  /** Frames in the track: at most those requested and the look-ahead. */
  readonly frames: number;
  /** Whether the track covers the whole video. */
  readonly complete: boolean;
  /** The leading seconds that an analysis of more frames would not change: a shorter timeline may use the track. */
  readonly settledSeconds: number;
  /** Number of source frames whose features were computed, for each requested engine that did not fail. */
  readonly featuresAdded: Readonly<Partial<Record<Engine, number>>>;
  /** Why the other engines failed, which affects nothing else; for the log. */
  readonly featuresFailed: Readonly<Partial<Record<Engine, string>>>;
  /** How often the face detector ran: 0 with a reused track. */
  readonly detectorRuns: number;
  /** As for a render. */
  readonly replacedCodecs: readonly ReplacedCodec[];
  /** As for a render, over the graphs of the analyzer and of the engines. */
  readonly gpuInferenceMs: number | null;
  /** Whether a graph failed where that only costs features computed ahead. */
  readonly graphFailed: boolean;
  readonly timings: StageTimings;
}

/** How far a graph was from the values that its probe recorded elsewhere; both in units of the output. */
export interface ProbeReading {
  readonly role: string;
  readonly deviation: number;
  readonly tolerance: number;
}

export interface PackReport {
  readonly packDir: string;
  /** The provider that the pack's graphs run on. */
  readonly provider?: Provider;
  /** Why each more preferred provider was passed over. */
  readonly passedOver?: readonly string[];
  /** What its probes found. */
  readonly probes?: readonly ProbeReading[];
  /** The layout of its features, if the engine caches any; a file of features has one layout and belongs to one pack. */
  readonly features?: FeatureLayout;
  /** Undefined when the pack is usable. */
  readonly problem?: string;
  /** Set with a problem that may go away once other processes on the device have ended: the pack itself is fine. */
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
      /** A graph could not be loaded or run, for a reason other than memory. */
      readonly graphFailed?: true;
    };

/**
 * `cancelled` is not an error but the answer to a cancel message. `pack_lost`: the pack that the task names is missing
 * or damaged, so no task that names it can succeed. `device_lost`, which only the host can determine: graphs fail on
 * the GPU in a new child too.
 */
export type FailureCode = ErrorCode | 'cancelled' | 'pack_lost' | 'device_lost';

/** How closely the mouth follows the voice's loudness, see FollowsVoice; null if there are too few faces or no voice. */
export interface SyncQuality {
  /** Pearson correlation of mouth opening and voice at the best lag; 0 when the mouth does not move. */
  readonly syncCorrelation: number | null;
  /** Seconds by which the mouth lags the voice; null when it does not follow. */
  readonly syncLagSeconds: number | null;
}

/** The quality of an output as far as it can be measured; for operators, never for customers. */
export interface OutputQuality extends SyncQuality {
  /** See FaceChange. */
  readonly seamLevels: number | null;
  readonly skinPsnrDb: number | null;
  /** Share of the output's frames that the engine left alone because they show no face that it can render. */
  readonly facelessShare: number;
  /**
   * Share of the output's frames whose face is larger than the generated one, which is enlarged and therefore softer
   * than its surroundings.
   */
  readonly enlargedShare: number;
  /**
   * The largest factor by which a generated face was enlarged; below 1 all were scaled down. Null if there were no
   * faces.
   */
  readonly largestEnlargement: number | null;
  /** Number of frames in which sync, seam and skin were measured. */
  readonly sampledFrames: number;
  /** Why expected measurements are missing; null when nothing went wrong. */
  readonly problem: string | null;
}

/** The stages that a task's clock distinguishes. They overlap. */
export const TIMED_STAGES = [
  /** Loading graphs that are not loaded yet: the engine's for a render, the analyzer's for an analysis. */
  'load',
  /** The analysis pass: decoding at reduced size, detector and landmarks. */
  'analyze',
  /** Hearing the video's own soundtrack, during the analysis. */
  'hear',
  /** Cutting out the clip's own mouth, if the pack asks for it: decoding once more, in part. */
  'exemplars',
  /** The pass over the video that computes engines' features. */
  'features',
  /** Reading the speech and finding the voice in it, while the first frames are decoded. */
  'audio',
  /** Waiting for decoded frames in the render pass. */
  'decode',
  /** Copying faces out of frames. */
  'crop',
  /** Inside the graphs, on their thread. */
  'infer',
  /** Pasting generated faces into frames. */
  'paste',
  /** Waiting for the encoder to take frames. */
  'encode',
  /** Waiting for the encoder to finish the file after the last frame. */
  'finish',
  /** Measuring the result. */
  'quality',
] as const;

export type TimedStage = (typeof TIMED_STAGES)[number];
