import { type S3ServerOptions, startS3Server } from '@lipsync/testkit';

/** The S3 double as a process, which stops on SIGTERM. Development only. */
async function main(): Promise<void> {
  const server = await startS3Server(JSON.parse(process.env['S3_OPTIONS'] ?? '') as S3ServerOptions);
  console.log(JSON.stringify({ event: 's3.listening', endpoint: server.endpoint }));
  process.once('SIGTERM', () => void server.close());
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
