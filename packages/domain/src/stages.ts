import { type RecordStatus } from '@lipsync/contract';

type Terminal = Exclude<RecordStatus, 'accepted' | 'processing'>;

// In order of progress. Terminal stages repeat the status, so that a display needs only the stage.
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

/** The stages of an engine result between queued and its terminal status. */
export type EngineWorkStage = 'loading_model' | 'inferencing' | 'encoding' | 'uploading';

/**
 * The stages of a pending asset once its job is claimed. Before that it is queued; all other stages equal its status.
 */
export type IngestStage = 'downloading' | 'verifying' | 'probing';
