import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type SyncMode } from '@lipsync/contract';
import { constantClock, endOf, exactRate, timelineOf } from '@lipsync/domain';
import { type Client } from 'pg';
import { type MeasuredRender } from './profile';

interface RenderRow {
  id: string;
  customer: string;
  engine: string;
  syncMode: SyncMode;
  createdAt: Date;
  completedAt: Date;
  jobId: string;
  availableAt: Date;
  videoFrames: number;
  videoSeconds: number;
  audioSeconds: number;
  videoAssetId: string;
  audioAssetId: string;
}

interface IngestRow {
  assetId: string;
  jobId: string;
  availableAt: Date;
  mediaSeconds: number;
}

/** The timings of completed renders of one engine each that were created since then. */
export async function measuredRenders(
  client: Client,
  jobLines: readonly WideLine[],
  sinceMs: number,
): Promise<MeasuredRender[]> {
  const since = new Date(sinceMs);
  const { rows } = await client.query<RenderRow>(
    `SELECT renders.id, renders.customer_id AS customer, engine_runs.engine, sync_mode AS "syncMode",
       renders.created_at AS "createdAt", renders.completed_at AS "completedAt", jobs.id AS "jobId",
       jobs.available_at AS "availableAt", video.frames AS "videoFrames", video.duration_seconds AS "videoSeconds",
       audio.duration_seconds AS "audioSeconds", video.id AS "videoAssetId", audio.id AS "audioAssetId"
     FROM renders
     JOIN engine_runs ON engine_runs.render_id = renders.id
     JOIN jobs ON jobs.engine_run_id = engine_runs.id
     JOIN assets AS video ON video.id = renders.video_asset_id
     JOIN assets AS audio ON audio.id = renders.audio_asset_id
     WHERE renders.created_at >= $1 AND renders.status = 'completed' AND jobs.attempts = 1
       AND (SELECT count(*) FROM engine_runs AS runs WHERE runs.render_id = renders.id) = 1
     ORDER BY renders.created_at`,
    [since],
  );
  const ingests = await client.query<IngestRow>(
    `SELECT asset_id AS "assetId", jobs.id AS "jobId", available_at AS "availableAt", duration_seconds AS "mediaSeconds"
     FROM jobs JOIN assets ON assets.id = asset_id WHERE jobs.created_at >= $1`,
    [since],
  );
  const ended = new Map(jobLines.map((line) => [String(line.fields['job_id']), line]));
  const seen = new Set<string>();
  const first = rows[0]?.createdAt.getTime() ?? 0;
  const customers = [...new Set(rows.map(({ customer }) => customer))];
  return rows.flatMap((row) => {
    const line = ended.get(row.jobId);
    if (line === undefined) return [];
    // An asset is ingested once, for the first render that names it.
    const own = ingests.rows.filter(
      ({ assetId }) => [row.videoAssetId, row.audioAssetId].includes(assetId) && !seen.has(assetId),
    );
    for (const { assetId } of own) seen.add(assetId);
    return [
      {
        at_seconds: seconds(row.createdAt.getTime() - first),
        // Profiles are shared, so they contain no ids of the service.
        customer: `customer-${customers.indexOf(row.customer) + 1}`,
        engine: row.engine,
        output_seconds: outputSecondsOf(row),
        analysed_seconds: line.fields['face_track'] === 'analysis' ? row.videoSeconds : 0,
        ingests: own.flatMap(({ jobId, availableAt, mediaSeconds }) => {
          const ingest = ended.get(jobId);
          return ingest ? [{ media_seconds: mediaSeconds, ...timesOf(ingest, availableAt) }] : [];
        }),
        ...timesOf(line, row.availableAt),
        end_to_end_seconds: seconds(row.completedAt.getTime() - row.createdAt.getTime()),
      },
    ];
  });
}

function outputSecondsOf({ syncMode, videoFrames, videoSeconds, audioSeconds }: RenderRow): number {
  const video = constantClock(exactRate(videoFrames / videoSeconds), videoFrames);
  return endOf(timelineOf(syncMode, video, audioSeconds).clock);
}

/** The time of the claim is when the line says that the job ended, minus its duration. */
function timesOf({ atMs, durationMs }: WideLine, availableAt: Date) {
  return {
    wait_seconds: seconds(Math.max(0, atMs - durationMs - availableAt.getTime())),
    service_seconds: seconds(durationMs),
  };
}

const seconds = (ms: number): number => Math.round(ms) / 1000;

/** A wide log line: the record of one finished unit of work. */
export interface WideLine {
  readonly atMs: number;
  readonly durationMs: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The lines of one event in a service's log since `sinceMs`. */
export function wideLines(logsDir: string, service: string, event: string, sinceMs: number): WideLine[] {
  return readFileSync(path.join(logsDir, `${service}.log`), 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"event":"${event}"`))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map((fields) => ({
      atMs: Date.parse(String(fields['time'])),
      durationMs: Number(fields['duration_ms']),
      fields,
    }))
    .filter(({ atMs }) => atMs >= sinceMs);
}

/** The number of slots that a service logged at its latest start, however it was configured. */
export function slotsOf(logsDir: string, service: string): number {
  const starts = readFileSync(path.join(logsDir, `${service}.log`), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"message":"started"'));
  const { slots } = JSON.parse(starts.at(-1) ?? '{}') as Record<string, unknown>;
  if (typeof slots !== 'number') throw new Error(`${service} did not say how many slots it has`);
  return slots;
}
