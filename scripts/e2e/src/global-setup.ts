import { chooseSharedStack } from './shared-stack';

/** Names the stack that test files share; the first of them that needs it starts it. */
export default chooseSharedStack;
