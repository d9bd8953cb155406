import { History, tidyHistory } from './history';
import { type RecentRender } from './recent-work';

const NAME = 'lipsync-studio.recent';

function memory(initial?: string) {
  const values = new Map<string, string>(initial === undefined ? [] : [[NAME, initial]]);
  return {
    values,
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
}

const render = (id: string, expiresAt = '2030-01-08T00:00:00Z'): RecentRender => ({
  id,
  createdAt: '2030-01-01T00:00:00Z',
  expiresAt,
  engines: ['musetalk'],
  syncMode: 'loop',
  videoName: 'face.mp4',
  voiceName: 'speech.wav',
});
const preparation = {
  id: 'p',
  videoAssetId: 'asset',
  expiresAt: '2030-01-08T00:00:00Z',
  videoName: 'face.mp4',
};
const NOW = Date.parse('2030-01-02T00:00:00Z');
const historyOf = (owner: string, store: ReturnType<typeof memory>) => new History(owner, store, () => NOW);
const ids = ({ work }: History) => [...work.renders, ...work.preparations].map(({ id }) => id);

describe('the history of an owner', () => {
  it('survives a reload, newest first', () => {
    const store = memory();
    const history = historyOf('alice', store);
    for (const id of ['a', 'b', 'a']) history.addRender(render(id), null);
    history.addPreparation(preparation, null);
    expect(ids(historyOf('alice', store))).toEqual(['a', 'b', 'p']);
  });

  it('is shown to nobody else, and deleted when somebody else signs in', () => {
    const store = memory();
    historyOf('alice', store).addRender(render('a'), null);
    const others = historyOf('bob', store);
    expect(ids(others)).toEqual([]);
    others.claim();
    expect([...store.values]).toEqual([]);
  });

  it('stays when its owner signs in again', () => {
    const store = memory();
    historyOf('alice', store).addRender(render('a'), null);
    historyOf('alice', store).claim();
    expect(ids(historyOf('alice', store))).toEqual(['a']);
  });

  it('loses nothing that another tab has added, and gets nothing back that it has forgotten', () => {
    const store = memory();
    const [one, other] = [historyOf('alice', store), historyOf('alice', store)];
    one.addRender(render('a'), null);
    other.addRender(render('b'), null);
    one.forget('a');
    other.addRender(render('c'), null);
    expect(ids(one)).toEqual(['c', 'b']);
  });

  it('remembers how far a render is, if it is one that is remembered', () => {
    const store = memory();
    const history = historyOf('alice', store);
    history.addRender(render('a'), null);
    let changes = 0;
    history.subscribe(() => changes++);
    for (const id of ['a', 'a', 'b']) history.noteState(id, { status: 'processing', percent: 40 });
    expect(history.work.renders).toEqual([{ ...render('a'), status: 'processing', percent: 40 }]);
    expect(changes).toBe(1);
    historyOf('bob', store).noteState('a', { status: 'failed' });
    expect(history.work.renders).toMatchObject([{ status: 'processing' }]);
  });

  it('is deleted where it has expired, whoever is signed in', () => {
    const store = memory();
    const history = historyOf('alice', store);
    history.addRender(render('a', '2030-01-03T00:00:00Z'), null);
    history.addRender(render('b', '2030-01-04T00:00:00Z'), null);
    tidyHistory(store, Date.parse('2030-01-03T00:00:00Z'));
    expect(store.values.get(NAME)).toContain('"b"');
    expect(store.values.get(NAME)).not.toContain('"a"');
    tidyHistory(store, Date.parse('2030-01-04T00:00:00Z'));
    expect([...store.values]).toEqual([]);
  });

  it.each([
    '{',
    'null',
    '[]',
    '{"renders":5}',
    // As it was before it had an owner.
    JSON.stringify({ renders: [render('a')], preparations: [] }),
  ])('is empty where the browser holds %s, which is deleted', (text) => {
    const store = memory(text);
    expect(ids(historyOf('alice', store))).toEqual([]);
    tidyHistory(store, NOW);
    expect([...store.values]).toEqual([]);
  });

  it.each([
    null,
    'text',
    { ...render('damaged'), createdAt: 'never' },
    { ...render('damaged'), expiresAt: undefined },
    { ...render('damaged'), engines: 'musetalk' },
    { ...render('damaged'), engines: [null] },
    { ...render('damaged'), videoName: {} },
    { ...render('damaged'), picture: 5 },
  ])('leaves out the damaged entry %j, which is deleted', (entry) => {
    const store = memory(
      JSON.stringify({ owner: 'alice', renders: [entry, render('a')], preparations: [entry] }),
    );
    expect(ids(historyOf('alice', store))).toEqual(['a']);
    tidyHistory(store, NOW);
    expect(JSON.parse(store.values.get(NAME) ?? '')).toEqual({
      owner: 'alice',
      renders: [render('a')],
      preparations: [],
    });
  });
});
