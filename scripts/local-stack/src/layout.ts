import path from 'node:path';

/** Repository root, relative to the compiled file (scripts/local-stack/dist). */
export const REPOSITORY_ROOT = path.resolve(__dirname, '..', '..', '..');

/** Paths of a local stack; everything that it writes is in one directory. */
export function stackLayout(root: string) {
  const below = (name: string) => path.join(root, name);
  return {
    root,
    runDir: below('run'),
    logsDir: below('logs'),
    postgresDir: below('postgres'),
    redisDir: below('redis'),
    s3Dir: below('s3'),
    workDir: below('work'),
    lockFile: below('lock'),
  };
}

export type StackLayout = ReturnType<typeof stackLayout>;

export const DEFAULT_STACK_ROOT = path.join(REPOSITORY_ROOT, '.local', 'stack');
/** File in which `stack up` says how to reach everything: beside the stack's directory, `.local/stack.json`. */
export const descriptionFile = (root: string): string => `${path.resolve(root)}.json`;
/** Folder to which the build writes the built-in model packs. */
export const PACKS_DIR = path.join(REPOSITORY_ROOT, '.local', 'packs');
/** Folder of packs that commands work on unless they are given another. */
export const DEFAULT_PACKS_DIR = process.env['MODEL_PACKS_DIR'] || PACKS_DIR;

/** An image has them elsewhere. */
const SAMPLES_DIR = process.env['SAMPLES_DIR'] || path.join(REPOSITORY_ROOT, 'samples');
export const SAMPLE_VIDEO = path.join(SAMPLES_DIR, 'face.mp4');
export const SAMPLE_AUDIO = path.join(SAMPLES_DIR, 'speech.wav');
