import { completePorts } from './state';

describe('completePorts', () => {
  it('numbers a port that an older state lacks, and leaves the others to the data that is bound to them', async () => {
    const { apiHealth, ...older } = await completePorts({});
    const completed = await completePorts(older);
    expect(completed).toMatchObject(older);
    expect(completed.apiHealth).toBeGreaterThan(0);
    expect(new Set([apiHealth, ...Object.values(older)]).size).toBe(Object.keys(completed).length);
  });
});
