import { createRunDirectory, disposeRun } from './test-run';

/** Stops what globalSetup started. */
export default async function globalTeardown(): Promise<void> {
  await disposeRun(createRunDirectory());
}
