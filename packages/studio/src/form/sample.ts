// Drawn and computed, for everybody to use: samples/README.md says how. Fetched only when somebody asks for them.
const VIDEO = new URL('../../../../samples/face.mp4', import.meta.url);
const VOICE = new URL('../../../../samples/speech.wav', import.meta.url);

/** A face and a voice for those who have none at hand. */
export function fetchSample(): Promise<File[]> {
  return Promise.all([
    fetchFile(VIDEO, 'sample-face.mp4', 'video/mp4'),
    fetchFile(VOICE, 'sample-speech.wav', 'audio/wav'),
  ]);
}

async function fetchFile(address: URL, name: string, type: string): Promise<File> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${name} was answered with ${answer.status}`);
  return new File([await answer.blob()], name, { type });
}
