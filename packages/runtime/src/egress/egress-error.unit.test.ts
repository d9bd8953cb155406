import { EgressError, isOwnFault } from './egress-error';
import { toEgressError } from './exchange';

const failing = (code: string): Error => Object.assign(new Error(code), { code });

it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])('%s is our own fault and stays what it is', (code) => {
  const fault = failing(code);
  expect(isOwnFault(fault)).toBe(true);
  expect(toEgressError(fault)).toBe(fault);
});

it.each(['ECONNREFUSED', 'EADDRNOTAVAIL', 'EPERM'])('%s is a failed connection', (code) => {
  const fault = failing(code);
  expect(toEgressError(fault)).toEqual(new EgressError('connection_failed', undefined, { cause: fault }));
});
