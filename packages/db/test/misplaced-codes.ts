import { ERROR_CATALOGUE, type ErrorPlace, isErrorCode } from '@lipsync/contract';
import { type Factories } from '@lipsync/testkit';

/** Error codes that are stored in a place where the contract's catalogue does not allow them. */
export async function misplacedCodes(make: Factories): Promise<{ place: ErrorPlace; code: string }[]> {
  const stored = await make.query<{ place: ErrorPlace; code: string }>(
    `SELECT DISTINCT place, code FROM (
       SELECT 'asset' AS place, error_code AS code FROM assets
       UNION ALL SELECT 'record', error_code FROM renders
       UNION ALL SELECT 'record', error_code FROM preparations
       UNION ALL SELECT 'engine', error_code FROM engine_runs
     ) AS failures WHERE code IS NOT NULL`,
  );
  return stored.filter(
    ({ place, code }) => !isErrorCode(code) || !ERROR_CATALOGUE[code].where.includes(place),
  );
}
