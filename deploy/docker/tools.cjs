// tools.cjs COMMAND …: the commands of the image gpu-tools.
const PROGRAMS = {
  models: '@lipsync/models/dist/models.js',
  'bench-engines': './dist/bench-engines.js',
  'gpu-check': './dist/gpu-check.js',
};

const [, , command] = process.argv;
const program = PROGRAMS[command];
if (program === undefined) {
  console.error(`commands: ${Object.keys(PROGRAMS).join(', ')}; each has --help`);
  process.exit(2);
}
// As if the program had been started directly.
process.argv.splice(1, 2, require.resolve(program));
require(program);
