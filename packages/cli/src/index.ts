export { EXIT_CODES } from './failures/exit-codes';
export type { RenderAnswer } from './render/finish';
export { run } from './run';
export type { Surroundings } from './session/session';
