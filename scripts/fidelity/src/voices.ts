import { SAMPLE_AUDIO } from '@lipsync/local-stack';
import { ffmpeg } from '@lipsync/testkit';

interface Voice {
  readonly extension: string;
  readonly filters: string;
  readonly encoder?: readonly string[];
}

const SECONDS = 3.3;
/** Two channels that differ. */
const STEREO = 'pan=stereo|c0=c0|c1=0.6*c0,aecho=0.8:0.6:7:0.4';

/** Voices by name: how they are made of the sample voice. */
export const VOICES = {
  'WAV 48 kHz stereo': { extension: 'wav', filters: `aresample=48000,${STEREO}` },
  'AAC 44.1 kHz stereo, German': {
    extension: 'm4a',
    filters: `aresample=44100,${STEREO}`,
    encoder: ['-c:a', 'aac', '-b:a', '160k', '-metadata:s:a:0', 'language=deu'],
  },
  'WAV 48 kHz 5.1': {
    extension: 'wav',
    // Copies of one channel would be coded as such.
    filters:
      'aresample=48000,pan=5.1|FL=0.6*c0|FR=0.5*c0|FC=c0|LFE=0*c0|BL=0.3*c0|BR=0.2*c0,' +
      'adelay=3|7|0|0|11|17',
  },
  'WAV 96 kHz stereo': {
    extension: 'wav',
    filters: `aresample=96000,${STEREO}`,
    encoder: ['-c:a', 'pcm_s24le'],
  },
  'WAV 16 kHz mono': { extension: 'wav', filters: 'anull' },
} as const satisfies Record<string, Voice>;
export type VoiceName = keyof typeof VOICES;

/** Writes a voice. @returns its path: `stem` and an extension */
export async function makeVoice(stem: string, name: VoiceName): Promise<string> {
  const { extension, filters, encoder = [] }: Voice = VOICES[name];
  const path = `${stem}.${extension}`;
  const sound = ['-af', `atrim=end=${SECONDS},${filters}`, ...encoder];
  await ffmpeg(['-i', SAMPLE_AUDIO, ...sound, path]);
  return path;
}
