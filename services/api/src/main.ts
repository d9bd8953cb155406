import { runService } from '@lipsync/runtime';
import { apiEnvironment } from './env';
import { startService } from './start-service';

void runService({ service: 'api', environment: apiEnvironment, start: startService });
