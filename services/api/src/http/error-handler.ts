import { type ErrorRequestHandler } from 'express';
import { answerError } from './answer-error';

/** Registered last, so that it receives every error. */
// Express recognises an error handler by its four parameters.
// eslint-disable-next-line @typescript-eslint/no-unused-vars
export const errorHandler: ErrorRequestHandler = (thrown: unknown, _req, res, _next) => {
  answerError(res, res.locals.context.fields, thrown);
};
