import { existsSync, readFileSync, renameSync } from 'node:fs';
import https from 'node:https';
import { addHook } from 'pirates';

/** Where and when a process ends itself: at the `nth` occurrence from when it is armed. */
export interface Failpoint {
  point: 'commit' | 'put' | 'enqueue' | 'post';
  side: 'before' | 'after';
  nth: number;
}

/** A replacement in a compiled file of a service. */
export interface Edit {
  file: string;
  find: string;
  replace: string;
}

/**
 * Loaded into every service by `--require`. Wraps public methods of the libraries that commit, store, enqueue and post,
 * so that the process can end itself right before or after one of them; and replaces source text of a mutant as it is
 * loaded. Nothing in the services knows of it.
 */
const armFile = process.env['CHAOS_ARM_FILE'] ?? '';
const edits = JSON.parse(process.env['CHAOS_EDITS'] ?? '[]') as Edit[];

let armed: (Failpoint & { left: number }) | null = null;

/** True when this is the occurrence at which the process is to end. */
function isDue(point: Failpoint['point'], side: Failpoint['side']): boolean {
  if (!existsSync(armFile)) {
    armed = null;
    return false;
  }
  if (armed === null) {
    const failpoint = JSON.parse(readFileSync(armFile, 'utf8')) as Failpoint;
    armed = { ...failpoint, left: failpoint.nth };
  }
  return armed.point === point && armed.side === side && --armed.left === 0;
}

function at(point: Failpoint['point'], side: Failpoint['side']): void {
  try {
    if (!isDue(point, side)) return;
    renameSync(armFile, `${armFile}.fired`);
  } catch {
    // It is just being armed or disarmed.
    return;
  }
  process.kill(process.pid, 'SIGKILL');
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Wraps a method that resolves, or calls its last argument, when it is done. */
function surround(
  owner: Record<string, Method>,
  name: string,
  point: Failpoint['point'],
  applies: (args: unknown[]) => boolean,
): void {
  const original = owner[name];
  if (original === undefined) throw new Error(`there is no ${name} to wrap`);
  owner[name] = function (this: unknown, ...args: unknown[]) {
    if (!applies(args)) return original.apply(this, args);
    at(point, 'before');
    const callback = args.at(-1);
    if (typeof callback === 'function')
      args[args.length - 1] = (...results: unknown[]) => {
        at(point, 'after');
        (callback as (...results: unknown[]) => void)(...results);
      };
    const result = original.apply(this, args);
    if (!(result instanceof Promise)) return result;
    return result.then((value: unknown) => {
      at(point, 'after');
      return value;
    });
  };
}

/** Statements that commit by themselves, besides COMMIT. */
const COMMITS = /^\s*COMMIT|create_renders|settle|UPDATE jobs SET lease_until/;

/** Called by the code that is appended to the main file of a library. */
const WRAP = {
  pg: ({ Client }: { Client: { prototype: Record<string, Method> } }) =>
    surround(Client.prototype, 'query', 'commit', ([query]) =>
      COMMITS.test(typeof query === 'string' ? query : ((query as { text?: string }).text ?? '')),
    ),
  s3: ({ S3Client }: { S3Client: { prototype: Record<string, Method> } }) =>
    surround(S3Client.prototype, 'send', 'put', ([command]) =>
      /^(Put|Copy)Object/.test((command as object).constructor.name),
    ),
  bullmq: ({ Queue }: { Queue: { prototype: Record<string, Method> } }) =>
    surround(Queue.prototype, 'add', 'enqueue', () => true),
};
const MAIN_FILES: [keyof typeof WRAP, RegExp][] = [
  ['pg', /node_modules\/pg\/lib\/index\.js$/],
  ['s3', /node_modules\/@aws-sdk\/client-s3\/dist-cjs\/index\.js$/],
  ['bullmq', /node_modules\/bullmq\/dist\/cjs\/index\.js$/],
];
(globalThis as Record<string, unknown>)['chaosWrap'] = WRAP;

const post = https.request;
https.request = ((...args: Parameters<typeof post>) => {
  at('post', 'before');
  return post(...args).once('response', () => at('post', 'after'));
}) as typeof post;

/** That each text is there, once, was checked before the start (`checkMutant`). */
function edited(code: string, file: string): string {
  const own = edits.filter((edit) => edit.file === file);
  return own.reduce((text, { find, replace }) => text.replace(find, () => replace), code);
}

addHook(
  (code, file) => {
    const library = MAIN_FILES.find(([, main]) => main.test(file))?.[0];
    const wrapping = library === undefined ? '' : `\n;globalThis.chaosWrap.${library}(module.exports);\n`;
    return edited(code, file) + wrapping;
  },
  { exts: ['.js'], ignoreNodeModules: false },
);
