import { type AssetStatus, type DeliveryStatus, RECORD_STATUSES, type RecordStatus } from '@lipsync/contract';
import { storedWord } from './stored-word';

/** Engine results use the same statuses as records. */
export type EngineStatus = RecordStatus;
export type UploadStatus = 'awaiting_upload' | 'completed' | 'expired';

/** The states of one kind of resource. */
export interface States<Status extends string> {
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
export interface StateMachine<Status extends string> extends States<Status> {
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
    parse: (text) => storedWord(states, text, `a status of ${name}`),
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
