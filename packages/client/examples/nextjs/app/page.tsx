'use client';

import { type FormEvent, useState } from 'react';

const PAUSE_MS = 2000;

export default function Page() {
  const [state, setState] = useState('');
  const [result, setResult] = useState<string>();

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setResult(undefined);
    try {
      setState('Uploading …');
      const [video, audio] = await Promise.all([
        upload('video', form.get('video') as File),
        upload('audio', form.get('audio') as File),
      ]);
      const { id } = await json(
        await fetch('/api/renders', { method: 'POST', body: JSON.stringify({ video, audio }) }),
      );
      setState(`Render ${id}`);
      setResult(
        await finished(id, (percent) =>
          setState(percent < 100 ? `Render ${id}: ${percent} %` : `Render ${id}: waiting for its webhook`),
        ),
      );
      setState('');
    } catch (error) {
      setState(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <main>
      <h1>Give a face a new voice</h1>
      <form onSubmit={submit}>
        <p>
          <label>
            Video <input type="file" name="video" accept="video/*" required />
          </label>
        </p>
        <p>
          <label>
            Voice <input type="file" name="audio" accept="audio/*,video/*" required />
          </label>
        </p>
        <button>Render</button>
      </form>
      <p role="status">{state}</p>
      {result && <video src={result} controls style={{ width: '100%' }} />}
    </main>
  );
}

async function upload(media: 'video' | 'audio', file: File): Promise<string> {
  const query = new URLSearchParams({ media, name: file.name });
  const { id } = await json(await fetch(`/api/uploads?${query}`, { method: 'PUT', body: file }));
  return id;
}

/** The URL of the result in this page, once the webhook has brought it. */
async function finished(id: string, onProgress: (percent: number) => void): Promise<string> {
  for (;;) {
    const response = await fetch(`/api/renders/${id}`);
    if (response.headers.get('content-type') === 'video/mp4')
      return URL.createObjectURL(await response.blob());
    const { status, percent, error } = await json(response);
    if (status === 'failed' || status === 'cancelled') throw new Error(error ?? `The render was ${status}`);
    onProgress(percent);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

interface Answer {
  readonly id: string;
  readonly status: string;
  readonly percent: number;
  readonly error?: string;
}

async function json(response: Response): Promise<Answer> {
  const body = (await response.json()) as Answer;
  if (!response.ok) throw new Error(body.error);
  return body;
}
