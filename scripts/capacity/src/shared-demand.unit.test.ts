import { sharedDemand } from './shared-demand';

describe('sharedDemand', () => {
  const profile = {
    per_render: {
      ...{ api_requests: 0, database_transactions: 100, wal_bytes: 5000, stored_row_bytes: 1000 },
      ...{ redis_commands: 50, cpu_seconds: { postgres: 0.3, redis: 0.01 } },
    },
    idle: {
      ...{ database_transactions_per_second: 20, redis_commands_per_second: 10 },
      cpu_seconds_per_second: { postgres: 0.02 },
    },
  };

  it('adds the load of renders to that of running processes', () => {
    expect(sharedDemand(profile, 7200, { all: 9, idleAsking: 3 })).toEqual({
      postgres: {
        connections: 90,
        transactionsPerSecond: 260,
        cores: expect.closeTo(0.66, 9) as number,
        walBytesPerSecond: 10_000,
        // Two a second for 37 days.
        storedBytes: 2 * 1000 * 37 * 86_400,
      },
      redis: { commandsPerSecond: 130, cores: expect.closeTo(0.02, 9) as number },
    });
  });
});
