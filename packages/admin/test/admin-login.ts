import { migrate } from '@lipsync/db';
import { testRedisUrl } from '@lipsync/testkit';
import { type World } from './erasable';

const PASSWORD = 'secret';

/** What the operator's command runs with, as in production: a login of its own, with no more rights than it needs. */
export async function openAdminLogin({ database, make, server }: World): Promise<{
  environment: Record<string, string>;
  close(): Promise<void>;
}> {
  const url = new URL(database.url);
  const role = `${url.pathname.slice(1)}_admin`;
  await make.query(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
  await migrate(url.href);
  url.username = role;
  url.password = PASSWORD;
  return {
    environment: {
      DATABASE_URL: url.href,
      PUBLIC_BASE_URL: 'https://api.example.com',
      REDIS_URL: testRedisUrl(),
      S3_ENDPOINT: server.endpoint,
      S3_BUCKET: server.bucket,
      S3_ACCESS_KEY_ID: server.accessKeyId,
      S3_SECRET_ACCESS_KEY: server.secretAccessKey,
    },
    close: async () => {
      await make.query(`DROP OWNED BY ${role}`);
      await make.query(`DROP ROLE ${role}`);
    },
  };
}
