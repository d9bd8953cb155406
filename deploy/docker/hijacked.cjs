// What a media tool could do that a file has taken over: the service's user, any code, but no environment. Used by
// check-secrets.sh, in a container whose secrets match SECRET: node -e "$(cat hijacked.cjs)" TASK
//
//   read     looks for secrets in all other processes and all files, without the confinement of a media tool
//   connect  connects to the service's health port, with that confinement
//   debug    sends all processes the signal that opens Node's debugger, without it
//
// An image without media tools is only read: who has the signal sent there may run anything there already.
//
// Prints what succeeded, and nothing if nothing did.
const { spawnSync } = require('node:child_process');
const { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync } = require('node:fs');
const { connect } = require('node:net');
const { join } = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');

const SECRET = /c0ffee[0-9a-f]{26}/;
const SANDBOX = '/app/node_modules/@lipsync/media/dist/ffmpeg/sandbox.js';
const HEALTH_PORT = 8081;
const DEBUGGER_PORT = 9229;
const TRIED = 'tried\n';

/** Undefined where the kernel refuses. */
function attempt(action) {
  try {
    return action();
  } catch {
    return undefined;
  }
}

const others = () =>
  readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
const isTold = (path) => SECRET.test(attempt(() => readFileSync(path, 'latin1')) ?? '');

/** Where another process gives away a secret, or its memory, which holds them all. */
function leaksOf(pid) {
  const folder = `/proc/${pid}`;
  const leaks = [join(folder, 'environ'), join(folder, 'cmdline')].filter(isTold);
  const memory = attempt(() => openSync(join(folder, 'mem')));
  if (memory !== undefined) {
    closeSync(memory);
    leaks.push(join(folder, 'mem'));
  }
  const open = (attempt(() => readdirSync(join(folder, 'fd'))) ?? []).map((fd) => join(folder, 'fd', fd));
  // Only files: a pipe would be read until its other end writes.
  return [
    ...leaks,
    ...open.filter((path) => attempt(() => readlinkSync(path))?.startsWith('/') && isTold(path)),
  ];
}

function leaksUnder(folder) {
  return (attempt(() => readdirSync(folder, { withFileTypes: true })) ?? []).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['/proc', '/sys', '/dev'].includes(path) ? [] : leaksUnder(path);
    return entry.isFile() && isTold(path) ? [path] : [];
  });
}

const reaches = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

const TASKS = {
  read: async () => [...others().flatMap(leaksOf), ...leaksUnder('/')],
  connect: async () => ((await reaches(HEALTH_PORT)) ? ['a connection to the service'] : []),
  debug: async () => {
    for (const pid of others()) attempt(() => process.kill(Number(pid), 'SIGUSR1'));
    for (let tries = 0; tries < 20; tries++) {
      if (await reaches(DEBUGGER_PORT)) return ['a debugger'];
      await sleep(100);
    }
    return [];
  },
};

/** Starts this program again in the position of a media tool, and prints what it prints. */
function takePosition(task) {
  let command = [process.execPath, ...process.execArgv, task, 'in position'];
  if (task === 'connect') {
    const { confine, detectSandbox, unconfined } = require(SANDBOX);
    const sandbox = detectSandbox(process.env.PATH);
    const missing = unconfined(sandbox);
    if (missing.length > 0) return console.log(missing.join('; '));
    const limits = { cpuSeconds: 60, memoryBytes: 1024 ** 3, fileBytes: 1024 ** 2, openFiles: 64 };
    command = confine(sandbox, limits, command);
  }
  const { status, stdout, stderr } = spawnSync(command[0], command.slice(1), { env: {}, encoding: 'utf8' });
  // What did not run to its end has not tried.
  const tried = stdout.endsWith(TRIED);
  console.log(tried ? stdout.slice(0, -TRIED.length) : `nothing to rely on, status ${status}: ${stderr}`);
}

const [, task, position] = process.argv;
if (position !== undefined)
  void TASKS[task]().then((succeeded) => console.log([...succeeded, 'tried'].join('\n')));
else if (task === 'read' || existsSync(SANDBOX)) takePosition(task);
