import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { chmod, readdir, writeFile } from 'node:fs/promises';
import { type Binaries, SOFTWARE_CODECS } from '../ffmpeg/binaries';
import { type VideoStream } from '../probe/stream-info';

/** Binaries of which both tools are this one. */
export function binariesOf(tool: string, changes: Partial<Binaries> = {}): Binaries {
  return {
    ffmpeg: tool,
    ffprobe: tool,
    sandbox: {},
    codecs: SOFTWARE_CODECS,
    output: 'source',
    share: { memoryBytes: 1024 ** 3, decoderThreads: 1, encoderThreads: 1 },
    deviceEnvironment: {},
    ...changes,
  };
}

/** Writes a tool that runs these commands of a shell. */
export async function writeTool(file: string, commands: string): Promise<string> {
  await writeFile(file, `#!/bin/sh\n${commands}\n`);
  await chmod(file, 0o755);
  return file;
}

export const VIDEO_64: VideoStream = {
  codec: 'h264',
  width: 64,
  height: 64,
  fps: 25,
  rate: { num: 25, den: 1 },
  scan: 'progressive',
  pixFmt: 'yuv420p',
  depth: 8,
  alpha: false,
  hdr: {},
  color: {},
  upright: [],
  pixelAspect: { num: 1, den: 1 },
  timeBase: { num: 1, den: 25 },
};

/** How many file descriptors `act` leaves open in this process. */
export async function descriptorsLeftBy(act: () => Promise<void>): Promise<number> {
  // Sockets close in the next turn of the event loop, those of earlier tests, too.
  const count = async (): Promise<number> => {
    await new Promise((done) => setImmediate(done));
    return (await readdir('/dev/fd')).length;
  };
  const before = await count();
  await act();
  return (await count()) - before;
}

const LIMIT = 256;

/** Runs `act` while this process has only `left` file descriptors left, and returns its result. Linux only. */
export async function withDescriptorsLeft<Result>(left: number, act: () => Promise<Result>): Promise<Result> {
  const before = limitOfDescriptors('--nofile', '--output=SOFT', '--noheadings');
  limitOfDescriptors(`--nofile=${LIMIT}:`);
  const taken: number[] = [];
  try {
    takeAll(taken);
    taken.splice(0, left).forEach((descriptor) => closeSync(descriptor));
    return await act();
  } finally {
    taken.forEach((descriptor) => closeSync(descriptor));
    limitOfDescriptors(`--nofile=${before}:`);
  }
}

function limitOfDescriptors(...args: string[]): string {
  return execFileSync('prlimit', ['--pid', String(process.pid), ...args], { encoding: 'utf8' }).trim();
}

function takeAll(taken: number[]): void {
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch (error) {
    if (!String(error).includes('EMFILE')) throw error;
  }
}
