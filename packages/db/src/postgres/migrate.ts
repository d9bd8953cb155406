export { migrate } from '@lipsync/prisma';
