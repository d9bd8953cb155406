import { ffprobe } from '@lipsync/testkit';

/** What a file says of itself, in ffprobe's words; a fact is absent where it says nothing. */
export interface VideoFacts {
  readonly codec: string;
  readonly tag: string;
  readonly profile?: string;
  readonly pixels: string;
  readonly depth: number;
  readonly size: string;
  readonly aspect?: string;
  readonly fields?: string;
  readonly rate: string;
  readonly range?: string;
  readonly primaries?: string;
  readonly transfer?: string;
  readonly matrix?: string;
  /** Mastering display and content light, as the container and as the first picture say it. */
  readonly hdr: Readonly<Record<string, string>>;
  readonly timecode?: string;
}

export interface SoundFacts {
  readonly codec: string;
  readonly sample_rate: number;
  readonly channels: number;
  readonly bit_rate?: number;
  readonly language?: string;
}

interface Report {
  readonly streams: readonly (Record<string, string | number | undefined> & {
    readonly codec_type: string;
    readonly tags?: Readonly<Record<string, string>>;
    readonly side_data_list?: readonly SideData[];
  })[];
  readonly frames?: readonly { readonly side_data_list?: readonly SideData[] }[];
  readonly format: { readonly tags?: Readonly<Record<string, string>> };
}
type SideData = Readonly<Record<string, string | number>>;

export async function factsOf(path: string): Promise<{ video?: VideoFacts; sound?: SoundFacts }> {
  const said = await ffprobe(['-show_streams', '-show_format', '-of', 'json', path]);
  const { streams, format } = JSON.parse(said) as Report;
  const video = streams.find((stream) => stream.codec_type === 'video');
  const sound = streams.find((stream) => stream.codec_type === 'audio');
  const timecodes = [...streams.map(({ tags }) => tags), format.tags].flatMap(
    (tags) => tags?.['timecode'] ?? [],
  );
  return {
    ...(video && { video: videoFacts(video, await pictureData(path), timecodes[0]) }),
    ...(sound && { sound: soundFacts(sound) }),
  };
}

/** What the first picture says beside its pixels. */
async function pictureData(path: string): Promise<readonly SideData[]> {
  const first = ['-select_streams', 'v:0', '-read_intervals', '%+#1', '-show_entries', 'frame'];
  const { frames } = JSON.parse(await ffprobe([...first, '-of', 'json', path])) as Report;
  return frames?.[0]?.side_data_list ?? [];
}

type Stream = Report['streams'][number];

function videoFacts(stream: Stream, picture: readonly SideData[], timecode: string | undefined): VideoFacts {
  const pixels = String(stream['pix_fmt']);
  return {
    codec: String(stream['codec_name']),
    tag: String(stream['codec_tag_string']),
    ...known('profile', stream['profile']),
    pixels,
    depth: Number(/p(1[0246])[lb]e$/.exec(pixels)?.[1] ?? 8),
    size: `${stream['width']}x${stream['height']}`,
    ...known('aspect', stream['sample_aspect_ratio']),
    ...known('fields', stream['field_order']),
    rate: String(stream['avg_frame_rate']),
    ...known('range', stream['color_range']),
    ...known('primaries', stream['color_primaries']),
    ...known('transfer', stream['color_transfer']),
    ...known('matrix', stream['color_space']),
    hdr: { ...hdrFacts(picture), ...hdrFacts(stream.side_data_list ?? []) },
    ...known('timecode', timecode),
  };
}

/** Mastering display and content light as text that can be compared. */
function hdrFacts(data: readonly SideData[]): Record<string, string> {
  return Object.fromEntries(
    data
      .filter(({ side_data_type: type }) => /Mastering display|Content light/.test(String(type)))
      .map(({ side_data_type: type, ...values }) => [
        String(type),
        Object.values(values).map(decimal).join(' '),
      ]),
  );
}

/** A fraction as a number: files differ in their denominators. */
function decimal(value: string | number): string {
  const [num = NaN, den = 1] = String(value).split('/').map(Number);
  return (num / den).toPrecision(4);
}

function soundFacts(stream: Stream): SoundFacts {
  return {
    codec: String(stream['codec_name']),
    sample_rate: Number(stream['sample_rate']),
    channels: Number(stream['channels']),
    ...(stream['bit_rate'] !== undefined && { bit_rate: Number(stream['bit_rate']) }),
    ...known('language', stream.tags?.['language']),
  };
}

function known<Name extends string>(name: Name, value: unknown): { [key in Name]?: string } {
  const says = typeof value === 'string' && !['unknown', 'und', 'N/A', ''].includes(value);
  return (says ? { [name]: value } : {}) as { [key in Name]?: string };
}
