/** Stages in plain words. A newer service may have others, which are shown as they are. */
const RENDER_STAGES: Readonly<Record<string, string>> = {
  queued: 'Waiting for its turn',
  fetching_inputs: 'Fetching video and voice',
  validating_inputs: 'Checking the files',
  preparing: 'Finding the face',
  analyzing: 'Finding the face',
  rendering: 'Drawing the mouth',
  finalizing: 'Finishing',
  completed: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

const ENGINE_STAGES: Readonly<Record<string, string>> = {
  queued: 'Waiting',
  loading_model: 'Loading the model',
  inferencing: 'Drawing frames',
  encoding: 'Encoding',
  uploading: 'Storing the result',
  completed: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

/** The stages that a render passes through, to be shown as steps. */
export const STEPS = ['queued', 'fetching_inputs', 'preparing', 'rendering', 'finalizing'] as const;

export function renderStageText(stage: string): string {
  return RENDER_STAGES[stage] ?? stage.replaceAll('_', ' ');
}

export function engineStageText(stage: string): string {
  return ENGINE_STAGES[stage] ?? stage.replaceAll('_', ' ');
}

/** The position among the steps; a stage between two belongs to the one before it. */
export function stepOf(stage: string): number {
  if (stage === 'validating_inputs') return 1;
  return STEPS.findIndex((step) => step === stage);
}
