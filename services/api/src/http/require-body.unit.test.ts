import { requireBody } from './require-body';

const good = {
  video: { url: 'https://media.example.com/a.mp4' },
  audio: { url: 'https://media.example.com/a.wav' },
  engines: ['musetalk'],
  sync_mode: 'loop',
};

describe('requireBody', () => {
  it('accepts a body that follows the contract', () => {
    expect(requireBody('RenderRequest', good)).toBe(good);
  });

  it.each([
    [{ ...good, sync_mode: undefined }, 'invalid_request', /^\/sync_mode is required\.$/],
    [{ ...good, audio: { url: 'talk.wav' } }, 'invalid_media_url', /^\/audio\/url .+\. Use a public https/],
    [
      { ...good, video: { url: 'https://a.example.com/my talk.mp4' } },
      'invalid_media_url',
      /^\/video\/url .+\. Use/,
    ],
  ])('says which part of a body is wrong, and what would be accepted: %j', (body, code, message) => {
    const refused = async () => requireBody('RenderRequest', JSON.parse(JSON.stringify(body)));
    return expect(refused()).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
  });
});
