import { z } from 'zod';

// What agents read of inputs. Unknown properties are refused, so that a misspelled one is not ignored.

export const mediaInput = (what: string) =>
  z
    .string()
    .min(1)
    .describe(
      `The ${what}: the path of a file on this machine (it is uploaded; at most 256 MiB and 300 s), a public https URL, or an asset id (ast_…), such as the video_asset_id or audio_asset_id of an earlier render, which needs no upload.`,
    );

export const webhookUrl = z
  .string()
  .exactOptional()
  .describe(
    'Only to notify a server of the user: a public https URL that gets a signed POST at the end. To wait for the end yourself, use wait_seconds or the tool wait.',
  );

export const idempotencyKey = z
  .string()
  .max(128)
  .exactOptional()
  .describe(
    'Makes repeating safe: a second call with the same key and the same inputs (asset ids or URLs, not files) returns the first result and creates nothing.',
  );

const seconds = (min: number, meaning: string) =>
  z
    .int()
    .min(min)
    .max(3600)
    .default(45)
    .describe(`${meaning} Many hosts end calls that take longer than 60 s.`);

/** For tools that create something. */
export const callSeconds = seconds(
  0,
  'Seconds after which this call returns the state so far; 0 returns as soon as it is created. Uploads are never cut short. The work goes on after that: call wait.',
);

export const waitSeconds = seconds(1, 'Seconds after which the state so far is returned.');

export const resourceId = (kinds: string) =>
  z
    .string()
    .regex(/^[a-z]+_[0-9a-z]+$/, `an id is ${kinds}`)
    .describe(kinds);

const error = z
  .looseObject({ code: z.string(), message: z.string(), retryable: z.boolean() })
  .describe('Call explain_error with code for what to do');

/** The service's record as it answers it; later versions may have more fields. */
const record = z
  .looseObject({
    id: z.string().optional(),
    status: z
      .string()
      .optional()
      .describe(
        'accepted, processing, completed, failed or cancelled; for assets awaiting_upload, pending, ready or failed; for webhook events pending, delivered or failed',
      ),
    stage: z.string().optional().describe('What is being done'),
    progress_percent: z.number().optional(),
    engines: z
      .array(
        z.looseObject({
          engine: z.string(),
          status: z.string().describe('completed means that download can save the result'),
          output: z
            .looseObject({ url: z.string().describe('Signed, for 15 minutes'), expires_at: z.string() })
            .optional(),
          error: error.optional(),
        }),
      )
      .optional()
      .describe('Renders only: one for each engine. A render is completed when one engine is; check each'),
    error: error.optional(),
    expires_at: z.string().optional().describe('When it is deleted, with its results'),
  })
  .describe('A render, preparation, asset or webhook event, as the API returns it');

export const recordOutput = z.object({
  record,
  next: z.string().describe('What to do next'),
});

export const listOutput = z.object({
  made: z.array(
    z.object({
      id: z.string(),
      created_at: z.string(),
      status: z.string().describe('As last known here; expired when the service no longer has it'),
      inputs: z.array(z.string()).describe('Absolute paths, URLs, asset ids'),
      engines: z.array(z.string()),
      files: z.array(z.string()).describe('Paths of saved results'),
    }),
  ),
});

export const downloadOutput = z.object({
  render_id: z.string(),
  files: z.array(
    z.object({
      engine: z.string(),
      path: z.string().describe('Absolute'),
      sha256: z.string().describe('Hexadecimal digits'),
    }),
  ),
  not_saved: z
    .array(z.object({ engine: z.string(), status: z.string() }))
    .describe('Engines without a result, or without one yet'),
});

export const explanationOutput = z.object({
  errors: z.array(
    z.looseObject({
      code: z.string(),
      message: z.string().optional().describe("The service's own message, for a resource that failed"),
      meaning: z.string().optional().describe('From the published catalogue'),
      what_to_do: z.string(),
      retryable: z.boolean().describe('The same call can succeed later'),
      retry_after_seconds: z.number().optional(),
      http_status: z.number().nullable().optional(),
      found_in: z.array(z.string()).optional().describe('request, asset, record or engine'),
      engine: z.string().optional().describe('The engine that failed with it'),
    }),
  ),
});
