import {
  cancelOpenRenders,
  createCustomer,
  dropDeliveries,
  type LimitChanges,
  listCustomers,
  setCustomerState,
  setLimits,
  stopOpenPreparations,
} from '@lipsync/db';
import { customerLimits, type CustomerRow } from '@lipsync/domain';
import { type Command, InvalidArgumentError } from 'commander';
import { print, type Row } from './command-line';
import type { Connection, DatabaseContext, SecretContext } from './connect';
import { newSigningSecret } from './keys';

/** `default` instead of null, because the parser treats null as an option without a value. */
type LimitValue = number | 'default';

interface LimitOptions {
  postPerMinute?: LimitValue;
  getPerMinute?: LimitValue;
  activeRecords?: LimitValue;
  runningJobs?: LimitValue;
  openUploads?: LimitValue;
}

export function addCustomerCommands(program: Command, connection: Connection): void {
  const customers = program.command('customers').description('who may use the service, and how much of it');

  withLimitOptions(customers.command('create <name>'))
    .description('create a customer; its webhook signing secret is shown only once')
    .option('--json')
    .action((name: string, options: LimitOptions & { json?: boolean }) =>
      connection.withSecretBox(async (context) => {
        const { customer, signingSecret } = await newCustomer(context, name, changes(options));
        print({ ...row(customer), signing_secret: signingSecret }, options);
      }),
    );

  customers
    .command('list')
    .option('--json')
    .action((options: { json?: boolean }) =>
      connection.withDatabase(async ({ db }) => print((await listCustomers(db)).map(row), options)),
    );

  withLimitOptions(customers.command('limits <customer-id>'))
    .description('change limits; `default` restores the service’s default')
    .option('--json')
    .action((customerId: string, options: LimitOptions & { json?: boolean }) =>
      connection.withDatabase(async ({ db, act }) => {
        const customer = await setLimits(db, act, customerId, changes(options));
        if (customer === null) throw new Error(`there is no customer ${customerId}`);
        print(row(customer), options);
      }),
    );

  customers
    .command('suspend <customer-id>')
    .description(
      'refuse its keys from the next request on and hold its webhooks; work in progress is finished',
    )
    .option('--cancel-work', 'cancel its unfinished renders, and stop its preparations')
    .option('--drop-deliveries', 'drop its undelivered webhooks instead of holding them')
    .option('--json')
    .action((customerId: string, options: SuspendOptions) =>
      connection.withDatabase(async (context) => print(await suspend(context, customerId, options), options)),
    );

  customers
    .command('resume <customer-id>')
    .description('accept its keys again, and deliver the webhooks that were held')
    .option('--drop-deliveries', 'drop those instead')
    .option('--json')
    .action((customerId: string, options: ResumeOptions) =>
      connection.withDatabase(async (context) => print(await resume(context, customerId, options), options)),
    );
}

interface ResumeOptions {
  dropDeliveries?: boolean;
  json?: boolean;
}

interface SuspendOptions extends ResumeOptions {
  cancelWork?: boolean;
}

/** May be repeated, also to cancel or drop what a first time left. Work goes first, as its end makes deliveries. */
async function suspend(
  { db, act }: DatabaseContext,
  customerId: string,
  { cancelWork = false, dropDeliveries: drop = false }: SuspendOptions,
): Promise<Row> {
  if ((await setCustomerState(db, act, customerId, 'suspended')) === null)
    throw new Error(`there is no customer ${customerId}`);
  return {
    id: customerId,
    state: 'suspended',
    renders_cancelled: cancelWork ? await cancelOpenRenders(db, customerId, act) : 0,
    preparations_stopped: cancelWork ? await stopOpenPreparations(db, customerId, act) : 0,
    deliveries_dropped: drop ? await dropDeliveries(db, act, customerId) : 0,
  };
}

async function resume(
  { db, act }: DatabaseContext,
  customerId: string,
  { dropDeliveries: drop = false }: ResumeOptions,
): Promise<Row> {
  const dropped = drop ? await dropDeliveries(db, act, customerId) : 0;
  const before = await setCustomerState(db, act, customerId, 'active');
  if (before === null) throw new Error(`there is no customer ${customerId}`);
  if (before === 'active') throw new Error(`${customerId} is not suspended`);
  return { id: customerId, state: 'active', deliveries_dropped: dropped };
}

/** Creates a customer with a new signing secret, which is shown only once. Throws if nobody could see the name. */
export async function newCustomer(
  { db, secretBox, act }: SecretContext,
  name: string,
  limits: LimitChanges = {},
): Promise<{ customer: CustomerRow; signingSecret: string }> {
  if (!/[\p{L}\p{N}\p{P}\p{S}]/u.test(name))
    throw new Error('the name of a customer needs at least one visible character');
  const signingSecret = newSigningSecret();
  const customer = await createCustomer(db, act, {
    name,
    limits,
    sealSecret: (id) => secretBox.seal(signingSecret, id),
  });
  return { customer, signingSecret };
}

function withLimitOptions(command: Command): Command {
  return command
    .option('--post-per-minute <n|default>', 'POST requests', limit)
    .option('--get-per-minute <n|default>', 'GET requests', limit)
    .option('--active-records <n|default>', 'renders and preparations that are not terminal', limit)
    .option('--running-jobs <n|default>', 'engine jobs running at once', limit)
    .option('--open-uploads <n|default>', 'uploads that have not been completed', limit);
}

function limit(value: string): LimitValue {
  if (value === 'default') return value;
  if (!/^[1-9]\d{0,8}$/.test(value))
    throw new InvalidArgumentError('Expected a positive whole number or `default`.');
  return Number(value);
}

function changes(options: LimitOptions): LimitChanges {
  const { postPerMinute, getPerMinute, activeRecords, runningJobs, openUploads } = options;
  return {
    ...(postPerMinute === undefined ? {} : { postPerMinute: stored(postPerMinute) }),
    ...(getPerMinute === undefined ? {} : { getPerMinute: stored(getPerMinute) }),
    ...(activeRecords === undefined ? {} : { activeRecordsMax: stored(activeRecords) }),
    ...(runningJobs === undefined ? {} : { runningJobsMax: stored(runningJobs) }),
    ...(openUploads === undefined ? {} : { openUploadsMax: stored(openUploads) }),
  };
}

/** A customer without a limit of its own has the service's default. */
const stored = (value: LimitValue): number | null => (value === 'default' ? null : value);

function row(customer: CustomerRow): Row {
  const limits = customerLimits(customer);
  return {
    id: customer.id,
    name: customer.name,
    state: customer.state,
    created_at: customer.createdAt,
    post_per_minute: limits.postPerMinute,
    get_per_minute: limits.getPerMinute,
    active_records: limits.activeRecordsMax,
    running_jobs: limits.runningJobsMax,
    open_uploads: limits.openUploadsMax,
  };
}
