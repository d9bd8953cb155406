import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Engine, ENGINES } from '@lipsync/contract';
import {
  DEFAULT_PACKS_DIR,
  parseEngines,
  printFigures,
  runProgram,
  SAMPLE_VIDEO,
} from '@lipsync/local-stack';
import { type Binaries } from '@lipsync/media';
import { Command, Option } from 'commander';
import { alignSounds } from './articulation/aligned-speech';
import { type ClipFigures, measureClip, type Voice } from './articulation/measure-clip';
import { knownSounds, speak, UTTERANCES } from './articulation/speech';
import { isInTime, summaryOf } from './articulation/summary';
import { withWorkplace, type Workplace } from './workplace';

interface Options {
  engines: Engine[];
  face: string[];
  voices?: string[];
  voiceFile: string[];
  transcript: string[];
  packsDir: string;
  keep?: string;
}

const list = (text: string): string[] => text.split(',');
const also = (file: string, files: string[]): string[] => [...files, file];
const SYNTHETIC = UTTERANCES.map(({ voice }) => voice);

/** `npm run measure:articulation`: prints one JSON object, and exits with 1 if lips are late or far ahead on any clip. */
const program = new Command('measure:articulation')
  .description(
    'Do the lips do what the sounds need? Renders speech whose sounds have known times, and reads the mouths back.',
  )
  .addOption(
    new Option('--engines <names>', 'engines to render with, separated by commas')
      .argParser(parseEngines)
      .default([...ENGINES], ENGINES.join(',')),
  )
  .option(
    '--face <file>',
    'a video of a face, may be repeated; else the sample face talking, with its mouth shut, and tilted',
    also,
    [],
  )
  .option(
    '--voices <names>',
    'voices to speak with, separated by commas; also WAV files with the times of their sounds beside them ' +
      `(speech.json); ${SYNTHETIC.join(',')} unless there is a --voice-file`,
    list,
  )
  .option(
    '--voice-file <file>',
    'a recording of English speech; may be repeated, each with its --transcript',
    also,
    [],
  )
  .option('--transcript <file>', 'the words that are said in the --voice-file at the same place', also, [])
  .option('--packs-dir <dir>', 'folder of model packs', DEFAULT_PACKS_DIR)
  .option('--keep <dir>', 'folder that keeps faces, voices and rendered videos')
  .action(async (options: Options) => {
    const clips = await withWorkplace(options, (place) => measureClips(place, options));
    printFigures({ engines: options.engines.map((engine) => summaryOf(engine, clips)), clips }, 3);
    if (!clips.every(({ lead_ms }) => isInTime(lead_ms ?? NaN))) process.exitCode = 1;
  });

/** Variants of the sample face, as filters. */
const DRAWN_FACES = {
  talking: 'null',
  // It keeps its mouth shut for the first second, in which it also blinks.
  shut: 'trim=end=1.2,split[a][b];[b]reverse[c];[a][c]concat,loop=loop=3:size=60',
  tilted: 'rotate=0.35:fillcolor=0x707070',
};

async function measureClips(place: Workplace, options: Options): Promise<ClipFigures[]> {
  const { binaries, folder, analyze } = place;
  const voices = await voicesOf(binaries, options, folder);
  const faces = options.face.length > 0 ? options.face : await drawFaces(binaries, folder);
  const clips: ClipFigures[] = [];
  for (const file of faces) {
    const face = await analyze(path.resolve(file));
    for (const voice of voices)
      for (const engine of options.engines) {
        console.error(`${engine}: ${file} speaks as ${voice.name} …`);
        clips.push(await measureClip(place, engine, face, voice));
      }
  }
  return clips;
}

/** Speaks with the named voices and the recorded ones; none are named where there are recorded ones. */
async function voicesOf(
  binaries: Binaries,
  { voices, voiceFile, transcript }: Options,
  folder: string,
): Promise<Voice[]> {
  if (voiceFile.length !== transcript.length) throw new Error('every --voice-file needs its --transcript');
  const named = voices ?? (voiceFile.length > 0 ? [] : SYNTHETIC);
  const recorded = voiceFile.map(async (file, i) => ({
    ...{ name: path.parse(file).name, file: path.resolve(file) },
    sounds: await alignSounds(binaries, file, transcript[i] ?? ''),
  }));
  return Promise.all([...named.map((name) => namedVoice(name, folder)), ...recorded]);
}

/** A synthetic voice, or a WAV file with the times of its sounds beside it. */
async function namedVoice(name: string, folder: string): Promise<Voice> {
  const sounds = name.endsWith('.wav') ? await knownSounds(name) : null;
  if (sounds !== null) return { name: path.parse(name).name, file: path.resolve(name), sounds };
  const utterance = UTTERANCES.find(({ voice }) => voice === name);
  if (utterance === undefined) {
    throw new Error(
      `${name} is neither a voice (${SYNTHETIC.join(', ')}) nor a WAV file with the times of its sounds beside it`,
    );
  }
  const file = path.join(folder, `${name}.wav`);
  return { name, file, sounds: await speak(utterance, file) };
}

async function drawFaces({ ffmpeg }: Binaries, folder: string): Promise<string[]> {
  return Promise.all(
    Object.entries(DRAWN_FACES).map(async ([name, filters]) => {
      const file = path.join(folder, `${name}.mp4`);
      const encoder = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '14', '-pix_fmt', 'yuv420p'];
      const input = ['-nostdin', '-v', 'error', '-y', '-i', SAMPLE_VIDEO];
      await promisify(execFile)(ffmpeg, [...input, '-an', '-vf', filters, ...encoder, file]);
      return file;
    }),
  );
}

runProgram(program);
