import { type z } from 'zod';

/** The environment does not describe a service that can run. The message names every offending variable. */
export class EnvError extends Error {
  override readonly name = 'EnvError';
}

/**
 * Reads and checks a process's settings once, at start. An empty variable counts as absent, as deployment tools
 * write it. Throws one `EnvError` that lists all problems, without repeating any value (it may be a secret).
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
    // An item of a list fails under its own path; what is present or not is the variable.
    const [variable = ''] = issue.path;
    return `  ${name}: ${variable in present ? issue.message : 'is missing'}`;
  });
  throw new EnvError(`the environment is not usable:\n${problems.join('\n')}`);
}
