import { ASSET_STATUSES, DELIVERY_STATUSES, RECORD_STATUSES } from '@lipsync/contract';
import {
  ASSET_STATES,
  DELIVERY_STATES,
  RECORD_STATES,
  type StateMachine,
  UPLOAD_STATES,
} from './transitions';

function movesOf<Status extends string>(machine: StateMachine<Status>): string[] {
  return machine.states.flatMap((from) =>
    machine.states.filter((to) => machine.canMove(from, to)).map((to) => `${from} → ${to}`),
  );
}

describe('the moves of a record or engine result', () => {
  it('are exactly these', () => {
    expect(movesOf(RECORD_STATES)).toEqual([
      'accepted → processing',
      'accepted → failed',
      'accepted → cancelled',
      'processing → completed',
      'processing → failed',
      'processing → cancelled',
    ]);
  });
});

describe('the moves of an asset', () => {
  it('are exactly these', () => {
    expect(movesOf(ASSET_STATES)).toEqual([
      'awaiting_upload → pending',
      'awaiting_upload → failed',
      'pending → ready',
      'pending → failed',
    ]);
  });
});

describe('the moves of an upload and of a delivery', () => {
  it('are exactly these', () => {
    expect(movesOf(UPLOAD_STATES)).toEqual(['awaiting_upload → completed', 'awaiting_upload → expired']);
    expect(movesOf(DELIVERY_STATES)).toEqual(['pending → delivered', 'pending → failed']);
  });
});

describe('every state machine', () => {
  it('has the states of the contract', () => {
    expect(RECORD_STATES.states).toEqual(RECORD_STATUSES);
    expect(ASSET_STATES.states).toEqual(ASSET_STATUSES);
    expect(DELIVERY_STATES.states).toEqual(DELIVERY_STATUSES);
  });

  it('calls terminal what has no move, and no move leads nowhere', () => {
    expect(RECORD_STATUSES.filter((status) => RECORD_STATES.isTerminal(status))).toEqual([
      'completed',
      'failed',
      'cancelled',
    ]);
    expect(ASSET_STATUSES.filter((status) => ASSET_STATES.isTerminal(status))).toEqual(['ready', 'failed']);
    expect(DELIVERY_STATUSES.filter((status) => DELIVERY_STATES.isTerminal(status))).toEqual([
      'delivered',
      'failed',
    ]);
  });

  it('counts every other state as open', () => {
    expect(RECORD_STATES.open).toEqual(['accepted', 'processing']);
    expect(UPLOAD_STATES.open).toEqual(['awaiting_upload']);
  });

  it('refuses to read a state that is none of its own', () => {
    expect(RECORD_STATES.parse('failed')).toBe('failed');
    for (const text of ['ready', '', 'toString', 'FAILED'])
      expect(() => RECORD_STATES.parse(text)).toThrow('not a status');
  });
});
