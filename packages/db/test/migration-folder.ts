import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A test's own migrations. */
export interface MigrationFolder {
  path: string;
  /** Writes a migration, replacing one of the same name. */
  write(name: string, sql: string): void;
  delete(): void;
}

export function createMigrationFolder(): MigrationFolder {
  const path = mkdtempSync(join(tmpdir(), 'lipsync-migrations-'));
  return {
    path,
    write: (name, sql) => {
      mkdirSync(join(path, name), { recursive: true });
      writeFileSync(join(path, name, 'migration.sql'), sql);
    },
    delete: () => rmSync(path, { recursive: true, force: true }),
  };
}
