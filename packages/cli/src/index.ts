export { EXIT_CODES } from './exit-codes';
export type { RenderAnswer } from './finish';
export { run } from './run';
export type { Surroundings } from './session';
