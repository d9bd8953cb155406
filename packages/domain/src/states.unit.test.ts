import { ASSET_STATUSES, DELIVERY_STATUSES, RECORD_STATUSES } from '@lipsync/contract';
import { ASSET_STATES, DELIVERY_STATES, RECORD_STATES } from './states';

describe('the transitions of a record or engine result', () => {
  it('are exactly these', () => {
    const moves = RECORD_STATES.states.flatMap((from) =>
      RECORD_STATES.states.filter((to) => RECORD_STATES.canMove(from, to)).map((to) => `${from} → ${to}`),
    );
    expect(moves).toEqual([
      'accepted → processing',
      'accepted → failed',
      'accepted → cancelled',
      'processing → completed',
      'processing → failed',
      'processing → cancelled',
    ]);
  });
});

describe('the states of a kind of resource', () => {
  it('are those of the contract', () => {
    expect(RECORD_STATES.states).toEqual(RECORD_STATUSES);
    expect(ASSET_STATES.states).toEqual(ASSET_STATUSES);
    expect(DELIVERY_STATES.states).toEqual(DELIVERY_STATUSES);
  });

  it('are parsed, and no other text is', () => {
    expect(RECORD_STATES.parse('failed')).toBe('failed');
    for (const text of ['ready', '', 'toString', 'FAILED'])
      expect(() => RECORD_STATES.parse(text)).toThrow('not a status');
  });
});
