import { type z } from 'zod';

/** The environment does not configure a service that can run. The message lists every invalid variable. */
export class EnvError extends Error {
  override readonly name = 'EnvError';
}

/**
 * Reads and checks the settings of a process once, at start. An empty variable counts as absent, because deployment
 * tools write it that way.
 * @throws EnvError that lists all problems, without repeating any value (it may be a secret)
 */
export function loadEnv<Schema extends z.ZodType>(
  schema: Schema,
  source: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const present = Object.fromEntries(
    Object.entries(source).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = schema.safeParse(present);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    const name = issue.path.join('.');
    // An invalid item of a list has its own path. The first element of the path is the variable.
    const [variable = ''] = issue.path;
    return `  ${name}: ${variable in present ? issue.message : 'is missing'}`;
  });
  throw new EnvError(`the environment is not usable:\n${problems.join('\n')}`);
}
