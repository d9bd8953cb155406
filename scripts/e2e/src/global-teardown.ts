import { createStack } from '@lipsync/local-stack';
import { sharedStack } from './shared-stack';

/** Stops and erases the stack that test files shared, if one of them has started it. */
export default async function globalTeardown(): Promise<void> {
  const stack = createStack({ root: sharedStack().root });
  await stack.down();
  stack.erase();
}
