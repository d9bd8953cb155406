import { onceReached } from './health';

describe('onceReached', () => {
  const { signal } = new AbortController();

  it('fails until it has passed once, and never again', async () => {
    const answers = [new Error('away'), null];
    const check = onceReached(async () => {
      const answer = answers.shift();
      if (answer !== null) throw answer ?? new Error('nobody should have asked again');
    });
    await expect(check(signal)).rejects.toThrow('away');
    await check(signal);
    await check(signal);
  });
});
