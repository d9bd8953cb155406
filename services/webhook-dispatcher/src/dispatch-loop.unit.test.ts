import { createLogger, type Logger } from '@lipsync/runtime';
import { createDispatchLoop } from './dispatch-loop';

it('logs an outage of the database in two lines, however long it is', async () => {
  const lines: string[] = [];
  const note = (message: string): void => void lines.push(message);
  const logger: Logger = { ...createLogger({ service: 'test', level: 'silent' }), error: note, info: note };
  let claims = 0;
  let pass = (): void => undefined;
  const succeededTwice = new Promise<void>((resolve) => {
    pass = resolve;
  });
  const loop = createDispatchLoop<never>({
    slots: 1,
    pollMs: 1,
    claim: () => {
      claims += 1;
      if (claims <= 5) return Promise.reject(new Error('the database is away'));
      if (claims === 7) pass();
      return Promise.resolve([]);
    },
    deliver: () => Promise.resolve(),
    onTurn: () => undefined,
    logger,
  });
  loop.start();
  await succeededTwice;
  await loop.close();
  expect(lines).toEqual(['could not claim deliveries', 'deliveries can be claimed again']);
});
