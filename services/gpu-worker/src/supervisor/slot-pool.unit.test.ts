import { createSlotPool } from './slot-pool';

const never = new AbortController().signal;

describe('slot pool', () => {
  test('no more borrowers than slots at a time, served in the order they came', async () => {
    const pool = createSlotPool(['a', 'b']);
    const served: string[] = [];
    const borrow = (name: string): Promise<string> =>
      pool.borrow(never).then((slot) => {
        served.push(name);
        return slot;
      });
    const [first] = await Promise.all([borrow('1'), borrow('2')]);
    const third = borrow('3');
    const fourth = borrow('4');
    await Promise.resolve();
    expect(served).toEqual(['1', '2']);

    pool.giveBack(first);
    expect(await third).toBe('a');
    expect(served).toEqual(['1', '2', '3']);
    pool.giveBack('a');
    expect(await fourth).toBe('a');
  });

  test('a borrower who gives up leaves the line and costs no slot', async () => {
    const pool = createSlotPool(['only']);
    const slot = await pool.borrow(never);
    const leaver = new AbortController();
    const gone = pool.borrow(leaver.signal);
    const next = pool.borrow(never);
    leaver.abort(new Error('stopping'));

    await expect(gone).rejects.toThrow('stopping');
    pool.giveBack(slot);
    expect(await next).toBe('only');
  });

  test('borrowing with an aborted signal is refused although a slot is free', async () => {
    const pool = createSlotPool(['only']);
    await expect(pool.borrow(AbortSignal.abort(new Error('stopping')))).rejects.toThrow('stopping');
    expect(await pool.borrow(never)).toBe('only');
  });
});
