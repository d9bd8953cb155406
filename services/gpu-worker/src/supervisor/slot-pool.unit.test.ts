import { createSlotPool } from './slot-pool';

describe('slot pool', () => {
  test('a slot has one borrower at a time, and can be borrowed again once returned', () => {
    const pool = createSlotPool(['a', 'b']);
    expect([pool.borrow(), pool.borrow()]).toEqual(['a', 'b']);
    expect(() => pool.borrow()).toThrow('all 2 slots are taken');
    pool.giveBack('b');
    expect(pool.borrow()).toBe('b');
  });
});
