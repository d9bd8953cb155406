import { type ErrorRequestHandler } from 'express';
import { answerError } from './answer-error';

/** Last in line. */
// Express tells an error handler by its four parameters.
// eslint-disable-next-line @typescript-eslint/no-unused-vars
export const errorHandler: ErrorRequestHandler = (thrown: unknown, _req, res, _next) => {
  answerError(res, res.locals.context.fields, thrown);
};
