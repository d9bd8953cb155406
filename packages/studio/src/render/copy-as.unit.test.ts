import { execFileSync } from 'node:child_process';
import { version as pythonVersion } from '@lipsync/client-python/package.json';
import { copyAs, type RenderToCopy } from './copy-as';

const render: RenderToCopy = {
  baseUrl: 'https://lipsync.example.com',
  engines: ['musetalk', 'highsync'],
  syncMode: 'loop',
  video: { name: "it's me; $(rm -rf).mp4", assetId: 'asset-1' },
  voice: { url: 'https://example.com/voice.wav?a=1&b=2' },
};

/** The arguments that a shell hands to the named program. */
function argumentsOf(program: string, script: string): string[] {
  const shell = `${program}() { printf '%s\\0' "$@"; }\n${script}`;
  return execFileSync('sh', ['-c', shell], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe('a render to copy', () => {
  it('is a command whose names a shell leaves alone', () => {
    expect(argumentsOf('npx', copyAs('command', render))).toEqual([
      ...['-y', '--allow-remote=root', 'https://lipsync.example.com/downloads/lipsync-cli.tgz', 'render'],
      ...["it's me; $(rm -rf).mp4", 'https://example.com/voice.wav?a=1&b=2'],
      ...['--engines', 'musetalk,highsync', '--sync-mode', 'loop'],
    ]);
  });

  it('does not take a file for an option', () => {
    const command = copyAs('command', { ...render, video: { name: '-o.mp4', assetId: 'a' } });
    expect(argumentsOf('npx', command)[4]).toBe('./-o.mp4');
  });

  it('is a request for curl with the very inputs of the render', () => {
    const args = argumentsOf('curl', copyAs('curl', { ...render, preparationId: 'prep-1' }));
    expect(args[0]).toBe('https://lipsync.example.com/v1/renders');
    expect(JSON.parse(args.at(-1) ?? '')).toEqual({
      video: { asset_id: 'asset-1' },
      audio: { url: 'https://example.com/voice.wav?a=1&b=2' },
      engines: ['musetalk', 'highsync'],
      sync_mode: 'loop',
      preparation_id: 'prep-1',
    });
  });

  it('is TypeScript with quoted names, for the client of this very service', () => {
    const source = copyAs('TypeScript', render);
    expect(source.split('\n')[0]).toBe(
      '// npm install --allow-remote=root https://lipsync.example.com/downloads/lipsync-client.tgz',
    );
    expect(source).toContain(`video: 'it\\'s me; $(rm -rf).mp4',`);
    expect(source).toContain(`engines: ['musetalk', 'highsync'],`);
    expect(source).toContain(`await client.outputs.download(render.id, 'highsync', 'highsync.mp4');`);
  });

  it('is Python that means the same', () => {
    const source = copyAs('Python', { ...render, preparationId: 'prep-1' });
    expect(source).toContain(
      `https://lipsync.example.com/downloads/lipsync_client-${pythonVersion}-py3-none-any.whl`,
    );
    expect(source).toContain(`video="it's me; $(rm -rf).mp4",`);
    expect(source).toContain(`engines=["musetalk", "highsync"],`);
    expect(source).toContain(`preparation_id="prep-1",`);
    expect(source).toContain(`client.outputs.download(render.id, "highsync", "highsync.mp4")`);
  });

  it('is a text from which an agent knows the service, the files and the choices, and no key', () => {
    const text = copyAs('agent', render);
    expect(text).toContain('https://lipsync.example.com/llms.txt');
    for (const part of ["it's me; $(rm -rf).mp4", 'https://example.com/voice.wav', 'highsync', 'loop'])
      expect(text).toContain(part);
    expect(text).not.toContain('svc_');
  });
});
