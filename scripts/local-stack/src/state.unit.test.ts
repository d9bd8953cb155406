import { completePorts } from './state';

describe('completePorts', () => {
  it('assigns a port that an older state lacks, and leaves those to which data is bound unchanged', async () => {
    const { apiHealth, ...older } = await completePorts({});
    const completed = await completePorts(older);
    expect(completed).toMatchObject(older);
    expect(completed.apiHealth).toBeGreaterThan(0);
    expect(new Set([apiHealth, ...Object.values(older)]).size).toBe(Object.keys(completed).length);
  });
});
