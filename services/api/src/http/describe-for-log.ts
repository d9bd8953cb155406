import { type RequestFields } from './request-context';

const MESSAGE_MAX_CHARACTERS = 500;

/** An unexpected failure for the operator: without addresses, which may be signed, and without long dumps. */
export function describeForLog(thrown: unknown): NonNullable<RequestFields['error']> {
  if (!(thrown instanceof Error)) return { name: typeof thrown, message: clean(String(thrown)) };
  const frames = thrown.stack?.slice(thrown.stack.indexOf('\n    at '));
  const cause = thrown.cause instanceof Error ? ` (${thrown.cause.message})` : '';
  return {
    name: thrown.name,
    message: clean(`${thrown.message}${cause}`),
    ...(frames === undefined ? {} : { stack: frames }),
  };
}

function clean(message: string): string {
  return message.replaceAll(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '<address>').slice(0, MESSAGE_MAX_CHARACTERS);
}
