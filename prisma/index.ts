export { Prisma, PrismaClient } from './generated/client';
export type { ApiKey, Asset, Upload } from './generated/client';
export { migrate, migrationsDigest, MigrationError, type MigrationReport } from './migrate';
