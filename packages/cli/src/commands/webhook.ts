import { readFile } from 'node:fs/promises';
import { verifyWebhook } from '@lipsync/client';
import { type Command, InvalidArgumentError } from 'commander';
import { duration } from '../choices';
import { describe } from '../describe';
import { CommandError } from '../exit-codes';
import type { Session } from '../session';

export function addWebhookCommands(program: Command, session: Session): void {
  const webhook = program.command('webhook').description('look at webhooks');

  webhook
    .command('show <event-id>', { isDefault: true })
    .description('whether an event was delivered, and when it is tried again')
    .action(async (id: string) => {
      const delivery = await (await session.client()).webhooks.get(id, { signal: session.interrupted });
      session.answer(delivery, describe(delivery));
    });

  webhook
    .command('verify [file]')
    .description(
      'check the signature of a delivery that you received; its raw body is read from the file, or from standard input',
    )
    .requiredOption(
      '-H, --header <line>',
      'a header of the delivery, as "Svc-Signature: t=…,v1=…"; Svc-Delivery-ID is needed, too',
      headerLine,
    )
    .option(
      '--secret-file <file>',
      'holds the signing secret, or two on two lines; else LIPSYNC_WEBHOOK_SECRET',
    )
    .option('--tolerance <duration>', 'how old the signature may be; 5m unless given', duration)
    .action(
      async (
        file: string | undefined,
        options: { header: Record<string, string>; secretFile?: string; tolerance?: number },
      ) => {
        const secrets = await secretsOf(options.secretFile, session);
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

function headerLine(line: string, previous: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([\w-]+):\s*(.*?)\s*$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('A header is "Name: value".');
  return { ...previous, [name]: value };
}

async function secretsOf(file: string | undefined, { env }: Session): Promise<string[]> {
  const text = file === undefined ? (env['LIPSYNC_WEBHOOK_SECRET'] ?? '') : await readFile(file, 'utf8');
  const secrets = text.split(/[\s,]+/).filter((secret) => secret !== '');
  if (secrets.length > 0) return secrets;
  throw new CommandError(
    'There is no signing secret.',
    'usage',
    'Set LIPSYNC_WEBHOOK_SECRET, or name a file with --secret-file. Your administrator has the secret.',
  );
}

async function readAll({ stdin }: Session): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
