export { Prisma, PrismaClient } from './generated/client';
export type { ApiKey, Asset, Preparation, Render, RunUsage, Upload } from './generated/client';
export { GRANTS } from './grants';
export { migrate, migrationsDigest, MigrationError } from './migrate';
