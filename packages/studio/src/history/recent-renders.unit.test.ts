import { RecentRenders } from './recent-renders';

function memory(initial?: string) {
  const values = new Map<string, string>(initial === undefined ? [] : [['lipsync-studio.recent', initial]]);
  return {
    values,
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
}

const render = (id: string, expiresAt = '2030-01-08T00:00:00Z') => ({
  id,
  createdAt: '2030-01-01T00:00:00Z',
  expiresAt,
  engines: ['musetalk' as const],
  syncMode: 'loop' as const,
  videoName: 'face.mp4',
  voiceName: 'speech.wav',
});
const now = () => Date.parse('2030-01-02T00:00:00Z');
const ids = (entries: readonly { id: string }[]) => entries.map(({ id }) => id);

describe('recent renders', () => {
  it('survive a reload, newest first, until they expire', () => {
    const store = memory();
    const recent = new RecentRenders(store, now);
    recent.addRender(render('a'));
    recent.addRender(render('b', '2030-01-01T12:00:00Z'));
    recent.addRender(render('c'));
    recent.addRender(render('a'));
    expect(ids(new RecentRenders(store, now).renders)).toEqual(['a', 'c']);
  });

  it('are forgotten on request', () => {
    const recent = new RecentRenders(memory(), now);
    recent.addRender(render('a'));
    recent.forget('a');
    expect(recent.renders).toEqual([]);
  });

  it.each(['{', '[]', '{"renders":5}', 'null'])('begin anew when the store holds %s', (text) => {
    expect(new RecentRenders(memory(text), now).renders).toEqual([]);
  });

  it('are kept in memory when the browser stores nothing', () => {
    const full = memory();
    full.setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    const recent = new RecentRenders(full, now);
    recent.addRender(render('a'));
    expect(ids(recent.renders)).toEqual(['a']);
  });
});
