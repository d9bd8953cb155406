import { machine, runProgram } from '@lipsync/local-stack';
import { Command } from 'commander';
import { type ApiFigures, measureApi } from './control-plane/api';
import { type DeliveryFigures, measureDeliveries } from './control-plane/deliveries';
import { openWorld } from './control-plane/world';

/** `npm run bench:control-plane`: prints one JSON object, and the aims as a table to the error output. */
const program = new Command('bench:control-plane')
  .description(
    'Creates, gets and webhook deliveries of one process each, with its Postgres and Redis on this machine, and whether the aims hold.',
  )
  .action(async () => {
    const { api, deliveries } = await measure();
    const aims = aimsOf(api, deliveries);
    for (const { aim, wanted, measured, holds } of aims)
      say(
        `${aim.padEnd(45)} ${measured.padStart(12)}   aim ${wanted.padEnd(12)} ${holds ? 'holds' : 'MISSED'}`,
      );
    console.log(JSON.stringify({ machine: machine(), aims, api, deliveries }, null, 2));
  });

const say = (line: string): void => console.error(`bench:control-plane: ${line}`);

/** One part at a time, so that each has the machine to itself. */
async function measure(): Promise<{ api: ApiFigures; deliveries: DeliveryFigures }> {
  say('starting Postgres and Redis');
  const world = await openWorld();
  try {
    const api = await measureApi(world, say);
    // Cleaning up and writing back after the renders must not count towards the deliveries.
    await world.sql.query('VACUUM (ANALYZE)');
    await world.sql.query('CHECKPOINT');
    return { api, deliveries: await measureDeliveries(world, say) };
  } finally {
    await world.close();
  }
}

interface Aim {
  aim: string;
  wanted: string;
  measured: string;
  holds: boolean;
}

/** What feeds a fleet of GPUs from two cores that also run the load; more is a matter of more processes. */
function aimsOf({ creates, gets }: ApiFigures, { throughput, first_attempt }: DeliveryFigures): Aim[] {
  const atLeast = (aim: string, value: number, least: number, unit: string): Aim => ({
    aim,
    wanted: `>= ${least}${unit}`,
    measured: `${value.toFixed(value < 10 ? 2 : 0)}${unit}`,
    holds: value >= least,
  });
  const atMost = (aim: string, value: number, most: number, unit: string): Aim => ({
    aim,
    wanted: `<= ${most}${unit}`,
    measured: `${value.toFixed(0)}${unit}`,
    holds: value <= most,
  });
  return [
    atLeast('creates', creates.closed_loop.per_second, 100, '/s'),
    atMost(`creates at ${creates.at_rate.per_second.toFixed(0)}/s, p99`, creates.at_rate.p99_ms, 100, ' ms'),
    atLeast('get, of a bare handler', gets.of_bare, 0.5, ''),
    atLeast('deliveries', throughput.per_second, 150, '/s'),
    atMost(`first attempt at ${first_attempt.offered_per_second}/s, p99`, first_attempt.p99_ms, 250, ' ms'),
  ];
}

runProgram(program);
