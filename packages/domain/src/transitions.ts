import { type AssetStatus, type DeliveryStatus, type RecordStatus } from '@lipsync/contract';

/** Engine results use the words of records. */
export type EngineStatus = RecordStatus;
export type UploadStatus = 'awaiting_upload' | 'completed' | 'expired';

type Moves<Status extends string> = Readonly<Record<Status, readonly Status[]>>;

const WORK_MOVES: Moves<RecordStatus> = {
  accepted: ['processing', 'failed', 'cancelled'],
  processing: ['completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};
const ASSET_MOVES: Moves<AssetStatus> = {
  awaiting_upload: ['pending', 'failed'],
  pending: ['ready', 'failed'],
  ready: [],
  failed: [],
};
const UPLOAD_MOVES: Moves<UploadStatus> = {
  awaiting_upload: ['completed', 'expired'],
  completed: [],
  expired: [],
};
const DELIVERY_MOVES: Moves<DeliveryStatus> = {
  pending: ['delivered', 'failed'],
  delivered: [],
  failed: [],
};

/** The moves of one kind of thing; every state without a move is terminal and absorbing. */
export interface StateMachine<Status extends string> {
  /** All states, in the order of a life. */
  readonly states: readonly Status[];
  /** The states that are not terminal: the condition of a compare-and-set that ends something or moves it on. */
  readonly open: readonly Status[];
  canMove(from: Status, to: Status): boolean;
  isTerminal(status: Status): boolean;
  /** Reads a stored state. @throws Error when it is none of this machine */
  parse(text: string): Status;
}

function stateMachine<Status extends string>(name: string, moves: Moves<Status>): StateMachine<Status> {
  const isState = (text: string): text is Status => Object.hasOwn(moves, text);
  const states = Object.keys(moves).filter(isState);
  const isTerminal = (status: Status): boolean => moves[status].length === 0;
  return {
    states,
    open: states.filter((status) => !isTerminal(status)),
    canMove: (from, to) => moves[from].includes(to),
    isTerminal,
    parse(text) {
      if (!isState(text)) throw new Error(`${text} is not a status of ${name}`);
      return text;
    },
  };
}

/** Renders, preparations and engine results. */
export const RECORD_STATES = stateMachine('a record', WORK_MOVES);
export const ASSET_STATES = stateMachine('an asset', ASSET_MOVES);
export const UPLOAD_STATES = stateMachine('an upload', UPLOAD_MOVES);
export const DELIVERY_STATES = stateMachine('a delivery', DELIVERY_MOVES);
