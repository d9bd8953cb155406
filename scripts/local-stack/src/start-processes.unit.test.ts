import { type ProcessSpec } from './process-manager';
import { startProcesses } from './start-processes';

const MINUTE = 60_000;

/** What a process says to be missing, and the end of its log, at each look; the last of them from then on. */
type Script = readonly (readonly [lacks: string | null, line: string])[];

/** Starts processes that follow scripts, with a clock that advances by a minute between two looks. */
async function start(scripts: Readonly<Record<string, Script>>, endsAt = Infinity) {
  const reported: string[] = [];
  let looks = 0;
  const at = (name: string) => scripts[name]?.[Math.min(looks, scripts[name].length - 1)] ?? [null, ''];
  const specs = Object.keys(scripts).map((name): ProcessSpec => ({
    name,
    command: 'true',
    args: [],
    env: {},
    lacks: async () => at(name)[0],
    stopGraceMs: 0,
  }));
  const done = startProcesses(specs, {
    processes: {
      start: async () => 'started',
      findPid: () => (looks < endsAt ? 1 : null),
      lastLogLine: (name) => at(name)[1],
      logFile: (name) => `${name}.log`,
    },
    report: (name, outcome) => void reported.push(`${name} ${outcome}`),
    now: () => looks * MINUTE,
    pause: async () => void looks++,
  });
  const outcome = await done.then(
    () => 'ready',
    (error: unknown) => error,
  );
  return { outcome, minutes: looks, reported };
}

describe('a start of processes', () => {
  it('takes as long as any of them makes progress, and says what it waits for', async () => {
    const steps = ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((pack): Script =>
      Array<Script[0]>(3).fill(['packs', `verified ${pack}`]),
    );
    const { outcome, minutes, reported } = await start({
      'gpu-worker': [...steps, [null, 'started']],
      api: [...Array<Script[0]>(18).fill(['workers', 'started']), [null, 'started']],
    });
    expect(outcome).toBe('ready');
    expect(minutes).toBe(18);
    expect(reported).toEqual(
      expect.arrayContaining([
        'gpu-worker started',
        'gpu-worker waits for packs; its log ends with: verified a',
        'gpu-worker ready',
        'api ready',
      ]),
    );
  });

  it('is given up when nothing has moved for three minutes, whatever is repeated meanwhile', async () => {
    const repeated = ['12:00:01 tries f00dcafe42', '12:00:02 tries 1234abcd99', 'fails'].map(
      (line) => ['packs', line] as const,
    );
    const { outcome, minutes } = await start({
      'gpu-worker': [...repeated, ...repeated, ...repeated],
      'media-worker': [[null, 'started']],
    });
    expect(minutes).toBe(6);
    expect(outcome).toMatchObject({
      name: 'NeverReady',
      message:
        'nothing has moved for three minutes:\n  gpu-worker waits for packs; its log ends with: 12:00:01 tries f00dcafe42 (gpu-worker.log)',
    });
  });

  it('ends with its last words when a process ends', async () => {
    const { outcome } = await start(
      {
        api: [
          ['an answer', 'starting'],
          ['an answer', 'DATABASE_URL is missing'],
        ],
      },
      1,
    );
    expect(outcome).toEqual(new Error('api ended as it started: DATABASE_URL is missing (api.log)'));
  });
});
