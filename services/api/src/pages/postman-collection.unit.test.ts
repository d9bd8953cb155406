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
    const remembered = items.flatMap(({ event = [] }) =>
      event.flatMap(({ script }) =>
        [...script.exec.join('\n').matchAll(/collectionVariables\.set\('(\w+)'/g)].map(([, name]) => name),
      ),
    );
    const used = [...JSON.stringify(collection).matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name);
    const known = new Set([...remembered, ...collection.variable.map(({ key }) => key)]);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });
});
