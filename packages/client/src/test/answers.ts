import { type Reply } from './scripted-server';

/** It has the form of a key, and is nobody's. */
export const API_KEY = `svc_${'a1'.repeat(32)}`;

const AT = '2026-01-01T00:00:00.000Z';
const soon = () => new Date(Date.now() + 900_000).toISOString();

/** A render as the service answers it, at its address in the contract's example. */
export function render(fields: object = {}) {
  return {
    id: 'ren_1',
    status: 'processing',
    stage: 'rendering',
    progress_percent: 40,
    video_asset_id: 'ast_v',
    audio_asset_id: 'ast_a',
    sync_mode: 'cut_off',
    engines: [],
    created_at: AT,
    updated_at: AT,
    expires_at: AT,
    status_url: 'https://api.example.com/v1/renders/ren_1',
    ...fields,
  };
}

export const completed = (base: string, path: string, expiresAt = soon()) =>
  render({
    status: 'completed',
    engines: [
      {
        engine: 'musetalk',
        status: 'completed',
        stage: 'completed',
        progress_percent: 100,
        usage: {},
        output: { url: `${base}${path}`, expires_at: expiresAt },
      },
    ],
  });

export const upload = (base: string, id: string, length: number, expiresAt = soon()): Reply => ({
  status: 201,
  body: {
    id,
    asset_id: `ast_of_${id}`,
    status: 'awaiting_upload',
    upload_url: `${base}/store/${id}`,
    expires_at: expiresAt,
    method: 'PUT',
    required_headers: { 'Content-Type': 'video/mp4', 'Content-Length': String(length) },
    complete_url: `${base}/v1/uploads/${id}/complete`,
  },
});

export const asset = (id: string, status = 'pending'): Reply => ({
  status: 202,
  body: { id, media_type: 'video', status, stage: status, created_at: AT, expires_at: AT, media: {} },
});
