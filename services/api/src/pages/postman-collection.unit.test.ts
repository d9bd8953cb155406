import { runInNewContext } from 'node:vm';
import { openapiDocument, operationNamed, OPERATIONS, type SchemaName, validate } from '@lipsync/contract';
import { postmanCollection } from './postman-collection';

interface PostmanRequest {
  method: string;
  url: string | { raw: string; path: string[]; variable: { key: string; value: string }[] };
  body?: { mode: string; raw: string };
}
interface Item {
  name: string;
  request: PostmanRequest;
  response?: { name: string; originalRequest: PostmanRequest; code: number; body: string }[];
  event?: { script: { exec: string[] } }[];
}
interface Collection {
  variable: { key: string; value: string }[];
  item: { name: string; item: Item[] }[];
}

const collection = postmanCollection('https://api.example.com') as Collection;
const items = collection.item.flatMap((folder) => folder.item);
const itemOf = (operationId: string): Item => {
  const found = items.find(({ name }) => name === operationId);
  if (found === undefined) throw new Error(`no request is named ${operationId}`);
  return found;
};
const conforms = (schema: SchemaName | null, text: string) =>
  schema !== null && validate(schema, JSON.parse(text)).ok;

describe('the collection for Postman', () => {
  it('has a folder for each tag, and beside the operations only the request that sends bytes to the store', () => {
    expect(collection.item.map(({ name }) => name)).toEqual(openapiDocument.tags.map(({ name }) => name));
    const names = OPERATIONS.map(({ operationId }) => operationId as string);
    expect(items.map(({ name }) => name).sort()).toEqual([...names, 'send the bytes'].sort());
  });

  it('asks for nothing but an API key', () => {
    expect(collection.variable).toEqual([
      { key: 'base_url', value: 'https://api.example.com' },
      { key: 'api_key', value: '' },
    ]);
  });

  it.each(OPERATIONS)('$operationId is sent where the contract says', ({ operationId, method, path }) => {
    const { request } = itemOf(operationId);
    expect(request.method).toBe(method.toUpperCase());
    expect(request.url).toMatchObject({ raw: `{{base_url}}${path.replace('{id}', ':id')}` });
  });

  it.each(OPERATIONS)('$operationId has examples that conform to the contract', ({ operationId }) => {
    const { requestSchema, responseSchema, successStatus } = operationNamed(operationId);
    const { request, response = [] } = itemOf(operationId);
    expect(response.length).toBeGreaterThan(0);
    for (const { code, body } of response) {
      expect(code).toBe(successStatus);
      expect(conforms(responseSchema, body)).toBe(true);
    }
    const sent = [request, ...response.map(({ originalRequest }) => originalRequest)].map(({ body }) => body);
    expect(sent.map((body) => body !== undefined)).toEqual(sent.map(() => requestSchema !== null));
    for (const body of sent) expect(body === undefined || conforms(requestSchema, body.raw)).toBe(true);
  });

  it('uses only what was asked for or what an answer brought', () => {
    const variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
    const collectionVariables = { set: (name: string, value: string) => variables.set(name, value) };
    const answer = (scripts: readonly string[], code: number, body: string) => {
      const pm = { collectionVariables, response: { code, json: () => JSON.parse(body) as unknown } };
      for (const script of scripts) runInNewContext(script, { pm });
    };
    for (const { event = [], response = [] } of items) {
      const scripts = event.map(({ script }) => script.exec.join('\n'));
      for (const { code, body } of response) {
        answer(scripts, code, body);
        // The contract's examples of assets are videos.
        answer(scripts, code, body.replace('"media_type": "video"', '"media_type": "audio"'));
      }
    }
    const used = [...JSON.stringify(collection).matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
    expect(used.filter((name) => variables.get(name) === undefined)).toEqual([]);
  });
});
