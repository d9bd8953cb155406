export { Prisma, PrismaClient } from './generated/client';
export type {
  ApiKey,
  Asset,
  Customer,
  EngineRun,
  IdempotencyKey,
  Job,
  Preparation,
  Render,
  Upload,
  WebhookDelivery,
  WebhookEvent,
  WebhookSecret,
  Worker,
} from './generated/client';
export { migrate, migrationsDigest, MigrationError, type MigrationReport } from './migrate';
