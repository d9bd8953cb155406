import {
  type AssetStatus,
  type DeliveryStatus,
  MEDIA_TYPES,
  type MediaType,
  RECORD_STATUSES,
  type RecordStatus,
} from '@lipsync/contract';

/** Engine results use the same statuses as records. */
export type EngineStatus = RecordStatus;
type UploadStatus = 'awaiting_upload' | 'completed' | 'expired';

/** The states of one kind of resource. */
interface States<Status extends string> {
  /** All states, in order of progress. */
  readonly states: readonly Status[];
  /** The states that can still change. A compare-and-set that ends or advances a resource is conditional on these. */
  readonly open: readonly Status[];
  isTerminal(status: Status): boolean;
  /**
   * Reads a stored state.
   * @throws Error if it is not one of these
   */
  parse(text: string): Status;
}

/** States with the transitions between them. States without a transition are terminal. */
interface StateMachine<Status extends string> extends States<Status> {
  canMove(from: Status, to: Status): boolean;
}

function statesOf<Status extends string>(
  name: string,
  open: readonly Status[],
  terminal: readonly Status[],
): States<Status> {
  const states = [...open, ...terminal];
  return {
    states,
    open,
    isTerminal: (status) => terminal.includes(status),
    parse: (text) => parseEnum(states, text, `a status of ${name}`),
  };
}

const RECORD_MOVES: Readonly<Record<RecordStatus, readonly RecordStatus[]>> = {
  accepted: ['processing', 'failed', 'cancelled'],
  processing: ['completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

const canMoveOn = (status: RecordStatus): boolean => RECORD_MOVES[status].length > 0;

/** Renders, preparations and engine results. */
export const RECORD_STATES: StateMachine<RecordStatus> = {
  ...statesOf(
    'a record',
    RECORD_STATUSES.filter(canMoveOn),
    RECORD_STATUSES.filter((status) => !canMoveOn(status)),
  ),
  canMove: (from, to) => RECORD_MOVES[from].includes(to),
};
export const ASSET_STATES = statesOf<AssetStatus>(
  'an asset',
  ['awaiting_upload', 'pending'],
  ['ready', 'failed'],
);
export const UPLOAD_STATES = statesOf<UploadStatus>(
  'an upload',
  ['awaiting_upload'],
  ['completed', 'expired'],
);
export const DELIVERY_STATES = statesOf<DeliveryStatus>('a delivery', ['pending'], ['delivered', 'failed']);

/** Whether a customer may use the service. All but an active one is refused as if it had no key. */
export type CustomerState = 'active' | 'suspended' | 'erasing';

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

/**
 * Reads a stored media type.
 * @throws Error for an unknown one
 */
export function parseMediaType(text: string): MediaType {
  return parseEnum(MEDIA_TYPES, text, 'a media type');
}

/**
 * Reads a word of a closed list from a row, which holds plain text. The table's constraints, or the contract before
 * them, let no other word in.
 * @throws Error if the text is not in the list
 */
export function parseEnum<Word extends string>(words: readonly Word[], text: string, what: string): Word {
  const word = words.find((known) => known === text);
  if (word === undefined) throw new Error(`${text} is not ${what}`);
  return word;
}
