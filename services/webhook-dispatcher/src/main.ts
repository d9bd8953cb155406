import { openDb } from '@lipsync/db';
import {
  createHealthServer,
  createSecretBox,
  type Lifecycle,
  type Logger,
  openEgress,
  runService,
  systemClock,
} from '@lipsync/runtime';
import { openTelemetry } from '@lipsync/telemetry';
import { createDispatcher, type Dispatcher } from './dispatcher';
import { type DispatcherEnv, dispatcherEnvironment } from './env';

/** A loop that has not turned for this long is stuck; restarting the process is better. */
const STUCK_AFTER_MS = 60_000;

void runService({
  service: 'webhook-dispatcher',
  environment: dispatcherEnvironment,
  start: startDispatcher,
});

/** Opens the connections and starts delivering. A shutdown settles what is in flight before anything is closed. */
async function startDispatcher(env: DispatcherEnv, logger: Logger, lifecycle: Lifecycle): Promise<void> {
  const telemetry = await openTelemetry({ service: 'webhook-dispatcher', env, logger, lifecycle });
  const db = openDb({ service: 'webhook-dispatcher', env, logger });
  lifecycle.onShutdown('database', () => db.close());

  const egress = openEgress(env, 'any');
  lifecycle.onShutdown('egress', () => egress.close());

  const dispatcher = createDispatcher({
    db,
    egress,
    secretBox: createSecretBox(env.MASTER_KEY, env.MASTER_KEY_PREVIOUS),
    clock: systemClock,
    logger,
    telemetry,
    slots: env.WEBHOOK_SLOTS,
    perCustomer: env.WEBHOOK_PER_CUSTOMER,
    delaysSeconds: env.WEBHOOK_RETRY_SCHEDULE_SECONDS,
  });

  const health = createHealthServer({
    port: env.HEALTH_PORT,
    host: env.LISTEN_ADDRESS,
    live: { loop: () => checkLoop(dispatcher) },
    ready: { database: () => db.ping(), clock: () => checkClock(dispatcher) },
    stopping: lifecycle.stopping,
    metrics: telemetry.metrics,
    logger,
  });
  const port = await health.start();
  lifecycle.onShutdown('health server', () => health.close());

  dispatcher.start();
  lifecycle.onShutdown('dispatcher', () => dispatcher.close());
  logger.info('started', { health_port: port, slots: env.WEBHOOK_SLOTS });
}

async function checkLoop(dispatcher: Dispatcher): Promise<void> {
  if (dispatcher.sinceTurnMs() > STUCK_AFTER_MS) throw new Error('the loop is stuck');
}

async function checkClock(dispatcher: Dispatcher): Promise<void> {
  if (!(await dispatcher.clockGuard.isTrustworthy())) throw new Error('the clock is off');
}
