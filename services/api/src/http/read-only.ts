import { ServiceError } from '@lipsync/domain';
import { type RequestHandler } from 'express';

/** Refuses every method but GET and HEAD. */
export const readOnly: RequestHandler = (req, _res, next) => {
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    throw new ServiceError('method_not_allowed', { headers: { Allow: 'GET, HEAD' } });
  }
  next();
};
