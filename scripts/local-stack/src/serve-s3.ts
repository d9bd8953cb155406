import { startS3Server } from '@lipsync/testkit';

/** The S3 double as a process: configured by environment, stops on SIGTERM. Development only. */
function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

async function main(): Promise<void> {
  const server = await startS3Server({
    port: Number(setting('S3_PORT')),
    dataDir: setting('S3_DATA_DIR'),
    bucket: setting('S3_BUCKET'),
    accessKeyId: setting('S3_ACCESS_KEY_ID'),
    secretAccessKey: setting('S3_SECRET_ACCESS_KEY'),
    uploadCredentials: {
      accessKeyId: setting('S3_UPLOAD_ACCESS_KEY_ID'),
      secretAccessKey: setting('S3_UPLOAD_SECRET_ACCESS_KEY'),
    },
  });
  console.log(JSON.stringify({ event: 's3.listening', endpoint: server.endpoint }));
  process.once('SIGTERM', () => void server.close());
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
