import { readFile } from 'node:fs/promises';
import { verifyWebhook, type WebhookEventType } from '@lipsync/client';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { duration } from '../choices';
import { CommandError } from '../failures/exit-codes';
import { kindOf } from '../ids';
import { describe } from '../render/describe';
import type { Session } from '../session/session';
import { deliver, describeAttempt, receiverOf } from './deliver';
import { EVENT_TYPES, exampleEvent, newId } from './events';
import { addListenCommand } from './listen';
import { namedSecrets, saySecret, secretFileOption, signingSecret } from './secrets';

export function addWebhookCommands(program: Command, session: Session): void {
  const webhook = program.command('webhook').description('receive, inspect and verify webhooks');

  addListenCommand(webhook, session);

  webhook
    .command('send')
    .description('post a signed sample event to your receiver')
    .addOption(
      new Option('--type <type>', 'the type of the event').choices(EVENT_TYPES).default('render.completed'),
    )
    .requiredOption('--to <url>', 'the receiver; it may be on this machine')
    .addOption(secretFileOption())
    .action(async ({ type, to: address, secretFile }: SendOptions) => {
      const to = receiverOf(address);
      const secret = await signingSecret(secretFile, session);
      saySecret(secret, session);
      const attempt = await deliver({
        to,
        event: exampleEvent(type),
        deliveryId: newId('dlv'),
        secret: secret.hex,
        signal: session.interrupted,
      });
      session.answer(attempt, [describeAttempt(attempt)]);
      if (!attempt.delivered) throw new CommandError('The receiver did not accept the event.', 'failed');
    });

  webhook
    .command('secret')
    .description('print the secret that listen and send sign with by default')
    .action(async () => {
      const { hex } = await signingSecret(undefined, session);
      session.answer({ secret: hex }, [hex]);
    });

  webhook
    .command('show <event-id>', { isDefault: true })
    .description('show whether an event was delivered, and when the next attempt is')
    .action(async (id: string) => {
      if (kindOf(id) !== 'event')
        throw new CommandError(`"${id}" is not the id of an event.`, 'usage', 'Those begin with evt_.');
      const delivery = await (await session.client()).webhooks.get(id, { signal: session.interrupted });
      session.answer(delivery, describe(delivery));
    });

  webhook
    .command('verify [file]')
    .description(
      'check the signature of a delivery that you received; reads its raw body from the file or from standard input',
    )
    .requiredOption(
      '-H, --header <line>',
      'a header of the delivery, such as "Svc-Signature: t=…,v1=…"; Svc-Delivery-ID is needed too',
      headerLine,
    )
    .option(
      '--secret-file <file>',
      'a file with the signing secret, or two on separate lines; default: LIPSYNC_WEBHOOK_SECRET',
    )
    .option('--tolerance <duration>', 'how old the signature may be; default: 5m', duration)
    .action(
      async (
        file: string | undefined,
        options: { header: Record<string, string>; secretFile?: string; tolerance?: number },
      ) => {
        const secrets = await namedSecrets(options.secretFile, session);
        const body = file === undefined || file === '-' ? await readAll(session) : await readFile(file);
        const { tolerance } = options;
        const event = await verifyWebhook(
          body,
          options.header,
          secrets,
          tolerance === undefined ? {} : { toleranceSeconds: tolerance / 1000 },
        );
        session.answer(event, [`${event.type} ${event.id} of ${event.data.id}: the signature is valid`]);
      },
    );
}

interface SendOptions {
  type: WebhookEventType;
  to: string;
  secretFile?: string;
}

function headerLine(line: string, previous: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([\w-]+):\s*(.*?)\s*$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('A header is "Name: value".');
  return { ...previous, [name]: value };
}

async function readAll({ stdin }: Session): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
