import { type AssetStatus, type RecordStatus } from '@lipsync/contract';

type Terminal = Exclude<RecordStatus, 'accepted' | 'processing'>;

// In the order of a life. Terminal stages repeat the status, so that the stage alone can drive a display.
const TERMINAL_STAGES: readonly Terminal[] = ['completed', 'failed', 'cancelled'];

export type RenderWorkStage =
  'fetching_inputs' | 'validating_inputs' | 'preparing' | 'rendering' | 'finalizing';
export type RenderStage = 'queued' | RenderWorkStage | Terminal;
export const RENDER_STAGES: readonly RenderStage[] = [
  'queued',
  'fetching_inputs',
  'validating_inputs',
  'preparing',
  'rendering',
  'finalizing',
  ...TERMINAL_STAGES,
];

export type PreparationWorkStage = 'fetching_inputs' | 'validating_inputs' | 'analyzing' | 'finalizing';
export type PreparationStage = 'queued' | PreparationWorkStage | Terminal;
export const PREPARATION_STAGES: readonly PreparationStage[] = [
  'queued',
  'fetching_inputs',
  'validating_inputs',
  'analyzing',
  'finalizing',
  ...TERMINAL_STAGES,
];

export type EngineWorkStage = 'loading_model' | 'inferencing' | 'encoding' | 'uploading';
export type EngineStage = 'queued' | EngineWorkStage | Terminal;
export const ENGINE_STAGES: readonly EngineStage[] = [
  'queued',
  'loading_model',
  'inferencing',
  'encoding',
  'uploading',
  ...TERMINAL_STAGES,
];

export type AssetStage = Exclude<AssetStatus, 'pending'> | 'queued' | 'downloading' | 'verifying' | 'probing';
export const ASSET_STAGES: readonly AssetStage[] = [
  'awaiting_upload',
  'queued',
  'downloading',
  'verifying',
  'probing',
  'ready',
  'failed',
];
