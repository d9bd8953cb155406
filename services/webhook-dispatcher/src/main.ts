import { runService } from '@lipsync/runtime';
import { dispatcherEnvironment } from './env';
import { startDispatcher } from './start-dispatcher';

void runService({
  service: 'webhook-dispatcher',
  environment: dispatcherEnvironment,
  start: startDispatcher,
});
