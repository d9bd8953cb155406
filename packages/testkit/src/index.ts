export { eventually } from './eventually';
export { createTestDatabase, cutConnections, type TestDatabase } from './postgres';
export { testPrefix, testRedisUrl } from './redis';
export {
  type PostgresOptions,
  type RunningPostgres,
  startPostgres,
  stopPostgres,
} from './servers/postgres-server';
export { type RedisOptions, type RunningRedis, startRedis, stopRedis } from './servers/redis-server';
